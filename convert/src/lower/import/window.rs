//! Windows of convolutions and pools: kernel, strides, pads, automatic pads, dilations, as ONNX writes them.

use super::Operand;
use super::Trouble;
use super::call::Call;
use super::phases::Phases;
use crate::lower::ir::{Extent, Window};
use crate::lower::view::Axis;

/// Most elements that a kernel may span along an axis.
const MAX_SPAN: usize = 1 << 12;

/// One spatial axis.
#[derive(Clone, Copy, Debug)]
struct Track {
    size: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
    before: usize,
    after: usize,
}

/// A window as the model states it.
#[derive(Debug)]
pub struct Frame {
    tracks: [Track; 2],
    ceil: bool,
}

/// The channel dimension must be 1 and the spatial ones behind it in order; rows must be one.
pub fn require_map(x: &Operand) -> Result<(), Trouble> {
    let rank = x.view.rank();
    let is_map = matches!(rank, 3 | 4)
        && x.view.axes(0).next().is_none()
        && x.view.covers(1, Axis::C, x.extent)
        && x.view.is_axis(rank - 1, Axis::W, x.extent)
        && (rank == 3 && x.extent.h == 1 || rank == 4 && x.view.is_axis(2, Axis::H, x.extent));
    if is_map {
        return Ok(());
    }
    let found = format!(
        "an input of shape {:?} (in memory height {}, width {}, channels {}, rows {})",
        x.view.shape(),
        x.extent.h,
        x.extent.w,
        x.extent.c,
        x.extent.n
    );
    let reason = "its dimensions must be [1, channels, height, width] or [1, channels, length]";
    Err(Trouble::misplaced(found, reason, "set the batch to 1 and keep images in one layout"))
}

impl Frame {
    /// Reads the attributes. `kernel` is used where the node has no kernel_shape.
    pub fn read(call: &mut Call<'_, '_>, x: &Operand, kernel: Option<&[usize]>) -> Result<Self, Trouble> {
        let spatial = x.view.rank() - 2;
        let kernel = match (call.ints("kernel_shape")?, kernel) {
            (Some(stated), None) => positive("kernel_shape", stated, spatial)?,
            (Some(stated), Some(kernel)) if positive("kernel_shape", stated, spatial)? != kernel => {
                let found = format!("kernel_shape = {stated:?} with weights for {kernel:?}");
                return Err(Trouble::refuse(found, "they contradict each other"));
            }
            (_, Some(kernel)) => kernel.to_vec(),
            (None, None) => return Err(Trouble::refuse("no kernel_shape".into(), "it is needed")),
        };
        let mut list = |name| match call.ints(name)? {
            Some(stated) => positive(name, stated, spatial),
            None => Ok(vec![1; spatial]),
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        let pads = match call.ints("pads")? {
            Some(stated) if stated.len() == 2 * spatial && stated.iter().all(|&pad| pad >= 0) => {
                stated.iter().map(|&pad| pad as usize).collect()
            }
            Some(stated) => {
                return Err(Trouble::refuse(
                    format!("pads = {stated:?}"),
                    "two numbers from 0 on are needed for each axis",
                ));
            }
            None => vec![0; 2 * spatial],
        };
        let sizes = [x.extent.h, x.extent.w];
        let track = |axis: usize| Track {
            size: sizes[2 - spatial + axis],
            kernel: kernel[axis],
            stride: strides[axis],
            dilation: dilations[axis],
            before: pads[axis],
            after: pads[axis + spatial],
        };
        let still = Track { size: 1, kernel: 1, stride: 1, dilation: 1, before: 0, after: 0 };
        let mut tracks = if spatial == 1 { [still, track(0)] } else { [track(0), track(1)] };
        let auto = call.text("auto_pad", "NOTSET")?;
        for track in &mut tracks {
            track.pad_automatically(auto)?;
            if track.span() > MAX_SPAN {
                let found = format!("a kernel of {} with dilation {}", track.kernel, track.dilation);
                return Err(Trouble::refuse(found, "it spans too many elements"));
            }
        }
        Ok(Self { tracks, ceil: false })
    }

    /// With sizes rounded up instead of down.
    pub fn rounded_up(self, ceil: bool) -> Self {
        Self { ceil, ..self }
    }

    /// Dilations of both axes.
    pub fn dilations(&self) -> (usize, usize) {
        (self.tracks[0].dilation, self.tracks[1].dilation)
    }

    /// Kernel without dilation.
    pub fn kernel(&self) -> (usize, usize) {
        (self.tracks[0].kernel, self.tracks[1].kernel)
    }

    /// Whether there is padding.
    pub fn is_padded(&self) -> bool {
        self.tracks.iter().any(|track| track.before + track.after > 0)
    }

    /// Whether the last window of an axis reaches past the padding, because sizes are rounded up.
    pub fn overhangs(&self) -> Result<bool, Trouble> {
        let mut overhangs = false;
        for track in &self.tracks {
            let end = (track.output(self.ceil)? - 1) * track.stride + track.span();
            overhangs |= end > track.before + track.size + track.after;
        }
        Ok(overhangs)
    }

    /// The window over dilated kernels and the extent of the result.
    pub fn window(&self, input: Extent, channels: usize) -> Result<(Window, Extent), Trouble> {
        let [rows, columns] = self.tracks;
        let (h, w) = (rows.output(self.ceil)?, columns.output(self.ceil)?);
        let stride = match (h, w) {
            (1, 1) => rows.stride.max(columns.stride),
            (1, _) => columns.stride,
            (_, 1) => rows.stride,
            _ if rows.stride == columns.stride => rows.stride,
            _ => {
                let found = format!("strides = [{}, {}]", rows.stride, columns.stride);
                let reason = "a .nk layer has one stride for both axes";
                return Err(Trouble::advise(found, reason, "use the same stride on both axes"));
            }
        };
        let window = Window { kernel: (rows.span(), columns.span()), stride, before: (rows.before, columns.before) };
        Ok((window, Extent { h, w, c: channels, ..input }))
    }
}

impl Frame {
    /// The same window in phases of a common stride; `None` if they do not divide the result.
    pub fn phases(&self, input: Extent, channels: usize) -> Option<Phases> {
        let [rows, columns] = self.tracks;
        let (h, w) = (rows.output(self.ceil).ok()?, columns.output(self.ceil).ok()?);
        let strides = (rows.stride, columns.stride);
        let larger = strides.0.max(strides.1);
        let stride = (1..=strides.0.min(strides.1))
            .map(|factor| factor * larger)
            .find(|&stride| stride.is_multiple_of(strides.0) && stride.is_multiple_of(strides.1))?;
        let counts = (stride / strides.0, stride / strides.1);
        if !h.is_multiple_of(counts.0) || !w.is_multiple_of(counts.1) {
            return None;
        }
        let window = Window { kernel: (rows.span(), columns.span()), stride, before: (rows.before, columns.before) };
        let extent = Extent { h: h / counts.0, w: w / counts.1, c: channels, ..input };
        Some(Phases { counts, strides, window, extent })
    }
}

impl Track {
    /// Size of the dilated kernel.
    fn span(&self) -> usize {
        self.dilation * (self.kernel - 1) + 1
    }

    fn output(&self, ceil: bool) -> Result<usize, Trouble> {
        let padded = self.before + self.size + self.after;
        let Some(room) = padded.checked_sub(self.span()) else {
            let found = format!("a kernel of {} over {padded} padded elements", self.span());
            return Err(Trouble::refuse(found, "the kernel is larger than its input"));
        };
        if !ceil {
            return Ok(room / self.stride + 1);
        }
        let output = room.div_ceil(self.stride) + 1;
        // A window that starts behind the input and its padding in front would see nothing.
        let starts_outside = (output - 1) * self.stride >= self.before + self.size;
        Ok(output - usize::from(starts_outside))
    }

    fn pad_automatically(&mut self, auto: &str) -> Result<(), Trouble> {
        match auto {
            "NOTSET" => Ok(()),
            "VALID" => {
                (self.before, self.after) = (0, 0);
                Ok(())
            }
            "SAME_UPPER" | "SAME_LOWER" => {
                let output = self.size.div_ceil(self.stride);
                let total = ((output - 1) * self.stride + self.span()).saturating_sub(self.size);
                let (less, more) = (total / 2, total - total / 2);
                (self.before, self.after) = if auto == "SAME_UPPER" { (less, more) } else { (more, less) };
                Ok(())
            }
            _ => Err(Trouble::refuse(format!("auto_pad = {auto}"), "its meaning is not known here")),
        }
    }
}

fn positive(name: &str, stated: &[i64], spatial: usize) -> Result<Vec<usize>, Trouble> {
    if stated.len() == spatial && stated.iter().all(|&value| (1..=1 << 24).contains(&value)) {
        return Ok(stated.iter().map(|&value| value as usize).collect());
    }
    Err(Trouble::refuse(format!("{name} = {stated:?}"), &format!("{spatial} numbers from 1 on are needed")))
}
