//! The order of weights in flash: that in which the kernels read them.

/// Filters that are computed side by side.
const BLOCK: usize = 4;

/// Blocks of four filters whose elements alternate, then the filters that do not fill a block.
pub(super) fn in_blocks<T: Copy>(filters: &[Vec<T>]) -> Vec<T> {
    let (blocks, rest) = filters.as_chunks::<BLOCK>();
    let mut weights = Vec::with_capacity(filters.iter().map(Vec::len).sum());
    for block in blocks {
        for element in 0..block[0].len() {
            weights.extend(block.iter().map(|filter| filter[element]));
        }
    }
    weights.extend(rest.iter().flatten());
    weights
}

/// The first elements of all filters, then the second ones: a map of kernel height, width and channels.
pub(super) fn by_element<T: Copy>(filters: &[Vec<T>]) -> Vec<T> {
    let elements = filters.first().map_or(0, Vec::len);
    (0..elements).flat_map(|element| filters.iter().map(move |filter| filter[element])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_block_alternate_and_the_rest_follows() {
        let filters: Vec<Vec<i8>> = (0..6).map(|filter| vec![10 * filter, 10 * filter + 1]).collect();
        assert_eq!(in_blocks(&filters), [0, 10, 20, 30, 1, 11, 21, 31, 40, 41, 50, 51]);
        assert_eq!(by_element(&filters[..3]), [0, 10, 20, 1, 11, 21]);
    }
}
