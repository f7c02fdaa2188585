//! Products of packed int8 weights and what finishes them, written once for vectors of any length: see
//! [`packed`](crate::kernels::int8::portable::packed).

use crate::kernels::int8::portable::tile::BLOCK;

/// `PackedLoops::products` of one instruction set, with `$lanes` sums in a vector and panels of as many vectors as listed.
/// Elements of rows are `$elem`; `$broadcast` makes a vector of a group of them, `$widen` one of as many weights for each lane.
macro_rules! tiles {
    (
        $feature:literal, $elem:ty, $group:literal, $lanes:literal, [$($vectors:literal),*],
        $zero:ident, $broadcast:ident, $widen:ident, $add_products:ident
    ) => {
        #[target_feature(enable = $feature)]
        fn all_tiles(tile: &Tile<'_>, sums: &mut TileSums) {
            if !tile.is_inside(size_of::<$elem>()) {
                return;
            }
            // SAFETY: `is_inside` has found all that the tile reads.
            unsafe {
                match tile.width / $lanes {
                    $($vectors => rows::<$vectors>(tile, sums),)*
                    _ => {}
                }
            }
        }

        /// A tile of a panel of `V` vectors.
        ///
        /// # Safety
        ///
        /// It is inside, and `V` vectors wide.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn rows<const V: usize>(tile: &Tile<'_>, sums: &mut TileSums) {
            // SAFETY: the caller's duty.
            unsafe {
                match tile.pixels {
                    1 => products::<1, V>(tile, sums),
                    2 => products::<2, V>(tile, sums),
                    3 => products::<3, V>(tile, sums),
                    4 => products::<4, V>(tile, sums),
                    5 => products::<5, V>(tile, sums),
                    _ => products::<6, V>(tile, sums),
                }
            }
        }

        /// A function of its own for each kind of tile, because the compiler keeps fewer sums in registers where several meet.
        ///
        /// # Safety
        ///
        /// The tile is inside, has `R` pixels and is `V` vectors wide.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        unsafe fn products<const R: usize, const V: usize>(tile: &Tile<'_>, all_sums: &mut TileSums) {
            let mut sums = [[$zero(); V]; R];
            let mut rows = [tile.staged.as_ptr().cast::<$elem>(); R];
            let mut weights = tile.weights.as_ptr();
            // Arrays have the alignment of one element.
            // SAFETY: weights, offsets and the windows of all pixels are as long as these loops go.
            unsafe {
                for r in 0..R {
                    rows[r] = rows[r].add(tile.starts.of(tile.first + r));
                    for v in 0..V {
                        sums[r][v] = match tile.offsets {
                            Some(offsets) => cast(offsets.as_ptr().cast::<[i8; 4 * $lanes]>().add(v).read()),
                            None => cast(all_sums.as_ptr().cast::<[i32; $lanes]>().add(r * V + v).read()),
                        };
                    }
                }
                for _ in 0..tile.kernel_rows {
                    for k in (0..tile.run).step_by($group) {
                        let mut w = [$zero(); V];
                        for v in 0..V {
                            w[v] = $widen(weights.cast::<[i8; $group * $lanes]>().add(v).read());
                        }
                        weights = weights.add(V * $group * $lanes);
                        for r in 0..R {
                            let x = $broadcast(cast(rows[r].add(k).cast::<[$elem; $group]>().read()));
                            for v in 0..V {
                                sums[r][v] = $add_products(sums[r][v], x, w[v]);
                            }
                        }
                    }
                    for row in &mut rows {
                        *row = row.wrapping_add(tile.pitch);
                    }
                }
                for r in 0..R {
                    for v in 0..V {
                        all_sums.as_mut_ptr().cast::<[i32; $lanes]>().add(r * V + v).write(cast(sums[r][v]));
                    }
                }
            }
        }
    };
}

/// `PackedLoops::finish` of one instruction set, for panels of two blocks of channels whose `tables` and `all_codes` exist.
macro_rules! panel_finish {
    ($feature:literal) => {
        /// Must be reached through `KERNELS` of this level only.
        const FINISH: PanelFinish = PanelFinish {
            // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the
            // feature.
            tables: |requantize, first, _, tables| unsafe { panel_tables(requantize, first, tables) },
            // SAFETY: see above.
            codes: |tables, sums, codes| unsafe { panel_codes(tables, sums, codes) },
        };

        #[target_feature(enable = $feature)]
        fn panel_tables(requantize: &Requantize<'_>, first: usize, panel_tables: &mut PanelTables) -> bool {
            let outputs = requantize.bias.len() - first;
            for (block, to) in panel_tables.blocks.iter_mut().enumerate() {
                let Some(tables) = tables(requantize, first + block_start(outputs, block)) else { return false };
                *to = tables;
            }
            true
        }

        #[target_feature(enable = $feature)]
        fn panel_codes(tables: &PanelTables, sums: &mut TileSums, codes: &mut Codes<'_>) {
            for (block, tables) in tables.blocks.iter().enumerate() {
                let start = block_start(codes.outputs, block);
                let mut block_sums: Sums = [[0; BLOCK]; STRIP];
                for (to, sums) in block_sums.iter_mut().zip(sums.as_chunks::<WIDTH>().0) {
                    if let Some(sums) = sums.get(start..).and_then(|sums| sums.first_chunk()) {
                        *to = *sums;
                    }
                }
                let mut pixels = codes.pixels;
                if codes.pooled {
                    let [a, b, c, d, ..] = block_sums;
                    for i in 0..BLOCK {
                        block_sums[0][i] = a[i].max(b[i]).max(c[i].max(d[i]));
                    }
                    pixels = 1;
                }
                let output = codes.output.get_mut(start..).unwrap_or_default();
                all_codes(tables, &block_sums, pixels, output, codes.pitch);
            }
        }
    };
}

/// Where a block of channels starts in a panel that has so many outputs: the second one overlaps the first rather than reach
/// past the end.
#[inline(always)]
pub(in crate::kernels) fn block_start(outputs: usize, block: usize) -> usize {
    (block * BLOCK).min(outputs.saturating_sub(BLOCK))
}

pub(in crate::kernels) use {panel_finish, tiles};
