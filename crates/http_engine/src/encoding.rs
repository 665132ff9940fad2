//! The content coding of a response, chosen by `Accept-Encoding` (RFC 9110, section 12.5.3) as in `@redline/response-cache`.

use crate::header_value::trim;
use crate::wire::encoding;

/// Weights in thousandths; `None` for a coding that is not named.
#[derive(Default)]
struct Weights {
    /// By the number of the coding; that of `encoding::IDENTITY` is 0.
    named: [Option<u16>; 4],
    others: Option<u16>,
}

/// Returns the coding with the greatest weight, the first of equals: one of [`encoding`].
///
/// `preferred` lists the numbers of the codings, `encoding::BITS` for each, the first one in the lowest bits.
pub(crate) fn choose(header: &[u8], preferred: u32) -> u8 {
    let weights = weights(header);
    let of = |coding: u32| {
        weights.named[coding as usize]
            .or(weights.others)
            .unwrap_or(0)
    };
    let plain = of(encoding::IDENTITY);
    let (mut chosen, mut greatest) = (encoding::IDENTITY, 0);
    let mut left = preferred;
    while left != 0 {
        let coding = left & encoding::MASK;
        left >>= encoding::BITS;
        let own = of(coding);
        if own > greatest && own >= plain {
            (chosen, greatest) = (coding, own);
        }
    }
    chosen as u8
}

/// Parses the weights. Of several elements with one name the last counts.
fn weights(header: &[u8]) -> Weights {
    let mut weights = Weights::default();
    for element in header.split(|byte| *byte == b',') {
        let mut parts = element.split(|byte| *byte == b';').map(trim);
        let name = parts.next().unwrap_or_default();
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let place = match name.len() {
            1 if is("*") => &mut weights.others,
            2 if is("br") => &mut weights.named[encoding::BR as usize],
            4 if is("zstd") => &mut weights.named[encoding::ZSTD as usize],
            4 if is("gzip") => &mut weights.named[encoding::GZIP as usize],
            6 if is("x-gzip") => &mut weights.named[encoding::GZIP as usize],
            8 if is("identity") => &mut weights.named[encoding::IDENTITY as usize],
            _ => continue,
        };
        let given = parts.find_map(|part| match part {
            [b'q' | b'Q', b'=', weight @ ..] => Some(weight),
            _ => None,
        });
        match given.map(thousandths) {
            None => *place = Some(1000),
            Some(Some(weight)) => *place = Some(weight),
            Some(None) => {}
        }
    }
    weights
}

/// Parses a weight (RFC 9110, section 12.4.2). `None` for anything else.
fn thousandths(text: &[u8]) -> Option<u16> {
    let (whole, rest) = match text {
        [b'0', rest @ ..] => (0, rest),
        [b'1', rest @ ..] => (1000, rest),
        _ => return None,
    };
    let digits = match rest {
        [] => rest,
        [b'.', digits @ ..] if digits.len() <= 3 => digits,
        _ => return None,
    };
    let mut part = 0;
    for place in 0..3 {
        let digit = digits.get(place).copied().unwrap_or(b'0');
        if !digit.is_ascii_digit() {
            return None;
        }
        part = part * 10 + u16::from(digit - b'0');
    }
    (whole == 0 || part == 0).then_some(whole + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 =
        encoding::BR | encoding::ZSTD << encoding::BITS | encoding::GZIP << (2 * encoding::BITS);

    fn chosen(header: &str) -> u32 {
        u32::from(choose(header.as_bytes(), ALL))
    }

    #[test]
    fn the_greatest_weight_is_chosen_and_the_first_of_several() {
        assert_eq!(chosen("gzip, deflate, br, zstd"), encoding::BR);
        assert_eq!(chosen("gzip, zstd"), encoding::ZSTD);
        assert_eq!(chosen("br;q=0.5, X-GZip;q=0.8"), encoding::GZIP);
        assert_eq!(chosen("BR;q=0.001"), encoding::BR);
        assert_eq!(chosen("br;q=0.1, br;q=0.9, gzip;q=0.5"), encoding::BR);
        assert_eq!(chosen("br;level=1;Q=0.2\t, gzip ; q=0.3"), encoding::GZIP);
        assert_eq!(chosen("*"), encoding::BR);
        assert_eq!(chosen("br;q=0, *;q=0.1"), encoding::ZSTD);
        assert_eq!(
            u32::from(choose(b"br, gzip", encoding::GZIP)),
            encoding::GZIP
        );
    }

    #[test]
    fn identity_is_what_is_left_and_is_never_refused() {
        for header in [
            "",
            "deflate",
            "identity",
            "br;q=0",
            "*;q=0",
            "identity;q=0",
            "identity, br;q=0.9",
            "identity;q=0.5, gzip;q=0.4",
            "*;q=0.5, br;q=0.4, zstd;q=0, gzip;q=0",
            ", ;,",
        ] {
            assert_eq!(chosen(header), encoding::IDENTITY, "{header}");
        }
        assert_eq!(chosen("identity;q=0, gzip;q=0.1"), encoding::GZIP);
    }

    #[test]
    fn an_element_with_a_bad_weight_is_passed_over() {
        for weight in [
            "", "2", "0.1234", "1.1", "1.001", "-1", "a", "0,5", "00", ".5", "0.5x", "0 .5",
        ] {
            assert_eq!(
                chosen(&format!("br;q={weight}")),
                encoding::IDENTITY,
                "{weight}"
            );
        }
        for weight in ["1", "1.", "1.0", "1.000", "0.999", "0.01"] {
            assert_eq!(chosen(&format!("br;q={weight}")), encoding::BR, "{weight}");
        }
    }
}
