//! Products of matrices.

use crate::tensor::Tensor;

use super::call::{invalid, real};
use super::index::{Walk, broadcast_shape};
use super::matrix::multiply;
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "MatMul", opsets: since(1), inputs: 2..=2, infer: infer_matmul, compute: matmul },
    Operator { name: "Gemm", opsets: since(7), inputs: 2..=3, infer: infer_gemm, compute: gemm },
];

/// Shapes of a product under numpy's rules.
struct Product {
    /// Leading axes of both factors after broadcasting.
    batch: Vec<usize>,
    batch_left: Vec<usize>,
    batch_right: Vec<usize>,
    rows: usize,
    depth: usize,
    columns: usize,
    shape: Vec<usize>,
}

fn product(call: &Call<'_>) -> Result<Product, Fault> {
    call.attributes().finish()?;
    let (left, right) = (call.real_input(0)?, call.real_input(1)?);
    if left.kind != right.kind {
        return invalid(format!("its inputs have the types {} and {}", left.kind, right.kind));
    }
    let mismatch = || invalid(format!("shapes {:?} and {:?} do not fit", left.shape, right.shape));
    // A vector on the left is a row, on the right a column; its axis is missing in the result.
    let (batch_left, rows, depth) = match left.shape {
        [] => return mismatch(),
        [depth] => (&[][..], None, *depth),
        [batch @ .., rows, depth] => (batch, Some(*rows), *depth),
    };
    let (batch_right, depth_right, columns) = match right.shape {
        [] => return mismatch(),
        [depth] => (&[][..], *depth, None),
        [batch @ .., depth, columns] => (batch, *depth, Some(*columns)),
    };
    if depth != depth_right {
        return mismatch();
    }
    let batch = broadcast_shape(batch_left, batch_right)?;
    let shape = batch.iter().copied().chain(rows).chain(columns).collect();
    let (batch_left, batch_right) = (batch_left.to_vec(), batch_right.to_vec());
    let (rows, columns) = (rows.unwrap_or(1), columns.unwrap_or(1));
    Ok(Product { batch, batch_left, batch_right, rows, depth, columns, shape })
}

fn infer_matmul(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(call.input(0)?.kind, product(call)?.shape)])
}

fn matmul(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let product = product(call)?;
    let (left, right) = (call.reals(0)?, call.reals(1)?);
    let mut output = vec![0.0; product.shape.iter().product()];
    let (rows, depth, columns) = (product.rows, product.depth, product.columns);
    let lefts = Walk::broadcast(&product.batch_left, &product.batch);
    let rights = Walk::broadcast(&product.batch_right, &product.batch);
    for ((i, j), output) in lefts.zip(rights).zip(output.chunks_exact_mut((rows * columns).max(1))) {
        let left = &left[i * rows * depth..][..rows * depth];
        let right = &right[j * depth * columns..][..depth * columns];
        multiply(left, |row, column| right[row * columns + column], output, depth, columns);
    }
    Ok(vec![real(call.input(0)?.kind, &product.shape, output)?])
}

/// `alpha * A * B + beta * C`, where A and B may be transposed.
struct Gemm {
    alpha: f64,
    beta: f64,
    transposes_left: bool,
    transposes_right: bool,
    rows: usize,
    depth: usize,
    columns: usize,
}

impl Gemm {
    fn read(call: &Call<'_>) -> Result<Self, Fault> {
        let attributes = call.attributes();
        let (alpha, beta) = (attributes.float("alpha", 1.0)?, attributes.float("beta", 1.0)?);
        let (transposes_left, transposes_right) =
            (attributes.flag("transA", false)?, attributes.flag("transB", false)?);
        attributes.finish()?;
        let (left, right) = (call.real_input(0)?, call.real_input(1)?);
        let (&[a, b], &[c, d]) = (left.shape, right.shape) else {
            return invalid(format!("shapes {:?} and {:?} are not those of matrices", left.shape, right.shape));
        };
        let (rows, depth) = if transposes_left { (b, a) } else { (a, b) };
        let (depth_right, columns) = if transposes_right { (d, c) } else { (c, d) };
        if depth != depth_right {
            return invalid(format!(
                "shapes {:?} (transA={}) and {:?} (transB={}) do not fit",
                left.shape,
                u8::from(transposes_left),
                right.shape,
                u8::from(transposes_right)
            ));
        }
        if let Some(bias) = call.optional(2) {
            let shape = [rows, columns];
            if !bias.kind.is_float() || broadcast_shape(bias.shape, &shape)? != shape {
                return invalid(format!("a bias of shape {:?} for a result of shape {shape:?}", bias.shape));
            }
        } else if call.opset < 11 {
            return invalid("input 2 is missing");
        }
        Ok(Self { alpha, beta, transposes_left, transposes_right, rows, depth, columns })
    }
}

fn infer_gemm(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let gemm = Gemm::read(call)?;
    Ok(vec![Signature::new(call.input(0)?.kind, [gemm.rows, gemm.columns])])
}

fn gemm(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let gemm = Gemm::read(call)?;
    let (left, right) = (call.reals(0)?, call.reals(1)?);
    let (rows, depth, columns) = (gemm.rows, gemm.depth, gemm.columns);
    let mut output = vec![0.0; rows * columns];
    let turned: Vec<f64>;
    let left = match gemm.transposes_left {
        true => {
            turned = (0..rows * depth).map(|index| left[index % depth * rows + index / depth]).collect();
            &turned
        }
        false => left,
    };
    match gemm.transposes_right {
        true => multiply(left, |row, column| right[column * depth + row], &mut output, depth, columns),
        false => multiply(left, |row, column| right[row * columns + column], &mut output, depth, columns),
    }
    output.iter_mut().for_each(|element| *element *= gemm.alpha);
    if let Some(bias) = call.optional(2) {
        let elements = call.reals(2)?;
        for (element, index) in output.iter_mut().zip(Walk::broadcast(bias.shape, &[rows, columns])) {
            *element += gemm.beta * elements[index];
        }
    }
    Ok(vec![real(call.input(0)?.kind, &[rows, columns], output)?])
}
