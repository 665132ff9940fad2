//! Headers that identify the client.

use crate::header_value::trim;

/// Headers that identify a client, beside `Cookie`; in lower case.
pub const CREDENTIALS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-access-token",
    "x-tenant-id",
    "x-user-id",
];

/// Prefixes of the names of cookies that analytics scripts and consent banners set on every page of a site. Servers do not read
/// them.
pub const ANALYTICS_COOKIES: [&str; 30] = [
    "_ga",
    "_gid",
    "_gat",
    "_gcl_",
    "_gac_",
    "__utm",
    "_fbp",
    "_fbc",
    "_pk_",
    "_hj",
    "_clck",
    "_clsk",
    "_uet",
    "_tt_",
    "_ttp",
    "_pin_",
    "ajs_",
    "amp_",
    "mp_",
    "ph_",
    "hubspotutk",
    "__hs",
    "OptanonConsent",
    "OptanonAlertBoxClosed",
    "CookieConsent",
    "_scid",
    "_rdt_uuid",
    "_li_",
    "ln_or",
    "_ym_",
];

/// Whether all cookies of a `Cookie` header are those of analytics.
pub(crate) fn is_analytics(cookies: &[u8]) -> bool {
    cookies.split(|byte| *byte == b';').all(|pair| {
        let pair = trim(pair);
        // Its first character rules out most cookies.
        pair.first().is_some_and(|first| MAY_BEGIN[*first as usize]) && {
            let mut names = ANALYTICS_COOKIES.iter();
            names.any(|name| pair.starts_with(name.as_bytes()))
        }
    })
}

/// The characters that names of `ANALYTICS_COOKIES` begin with.
const MAY_BEGIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < ANALYTICS_COOKIES.len() {
        table[ANALYTICS_COOKIES[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytics_are_told_from_all_others() {
        assert!(is_analytics(b"_ga=1; _ga_ABC=2;_fbp=3"));
        assert!(!is_analytics(b"_ga=1; sid=2"));
        assert!(!is_analytics(b"sid_ga=1"));
        for name in ANALYTICS_COOKIES {
            assert!(is_analytics(format!("{name}=1").as_bytes()), "{name}");
        }
        assert!(!is_analytics(b"_ga=1;"));
        assert!(!is_analytics(b""));
    }
}
