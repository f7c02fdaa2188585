//! Files of `templates/` with places for what a model decides: `@name@`.

/// Fills the places of a template. Each must have a value; a value may stand in many places.
pub(crate) fn fill<V: AsRef<str>>(template: &str, values: &[(&str, V)]) -> String {
    let mut text = String::with_capacity(template.len());
    // Every second part stands between two signs.
    for (index, part) in template.split('@').enumerate() {
        let value = values.iter().find(|(name, _)| *name == part).map(|(_, value)| value.as_ref());
        text.push_str(if index % 2 == 0 { part } else { value.unwrap_or_else(|| panic!("no value for @{part}@")) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn places_are_filled() {
        assert_eq!(fill("@a@ and @b@, @a@;", &[("a", "x"), ("b", "@")]), "x and @, x;");
    }

    #[test]
    #[should_panic(expected = "no value for @c@")]
    fn a_place_without_a_value_is_a_mistake() {
        fill::<&str>("@c@", &[]);
    }
}
