//! `timeout = "5s"`: a time with its unit.

/// Reads a time as milliseconds; what is wrong comes back as a sentence.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    let example = "write a number with a unit, such as `\"5s\"`, `\"500ms\"` or `\"2m\"`";
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "" => return Err(format!("`{text}` has no unit: {example}")),
        other => return Err(format!("`{other}` is no unit of time: {example}")),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{text}` is no time: {example}"))?;
    let all = number * factor;
    if !all.is_finite() || all < 1.0 {
        return Err("a timeout of nothing would end every call before it began".into());
    }
    // A day is more than any model waits, and far below what the number can hold.
    if all > 86_400_000.0 {
        return Err("a timeout of more than a day is none".into());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and a day")]
    Ok(all as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, time) in
            [("5s", 5_000), ("500ms", 500), ("2m", 120_000), ("1.5s", 1_500), ("1h", 3_600_000), ("5 s", 5_000)]
        {
            assert_eq!(milliseconds(text), Ok(time), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "5", "s", "5 parsecs", "-1s", "0s", "0.0001ms", "1..5s", "25h", "٣s"] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }
}
