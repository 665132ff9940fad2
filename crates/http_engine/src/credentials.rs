//! Headers that identify the client.

use crate::header_value::trim;

/// Headers that identify a client, besides `Cookie`; in lower case.
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

/// Prefixes of cookies that analytics scripts and consent banners set on every page of a site; servers do not read them. A whole
/// name ends in `=`; a longer one contains an id of the site.
pub const ANALYTICS_COOKIES: [&str; 47] = [
    "_ga=",
    "_ga_",
    "_gid=",
    "_gat=",
    "_gat_",
    "_gcl_au=",
    "_gcl_aw=",
    "_gcl_dc=",
    "_gcl_gb=",
    "_gcl_gs=",
    "_gac_",
    "__utma=",
    "__utmb=",
    "__utmc=",
    "__utmt=",
    "__utmv=",
    "__utmz=",
    "_fbp=",
    "_fbc=",
    "_pk_id.",
    "_pk_ses.",
    "_pk_ref.",
    "_pk_cvar.",
    "_hjid=",
    "_hjSession_",
    "_hjSessionUser_",
    "_hjFirstSeen=",
    "_clck=",
    "_clsk=",
    "_uetsid=",
    "_uetvid=",
    "_ttp=",
    "_pin_unauth=",
    "ajs_anonymous_id=",
    "hubspotutk=",
    "__hstc=",
    "__hssc=",
    "__hssrc=",
    "OptanonConsent=",
    "OptanonAlertBoxClosed=",
    "CookieConsent=",
    "_scid=",
    "_rdt_uuid=",
    "ln_or=",
    "_ym_uid=",
    "_ym_d=",
    "_ym_isad=",
];

/// Returns true if all cookies of a `Cookie` header are those of analytics.
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

/// First characters of the names in `ANALYTICS_COOKIES`.
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
        for name in [
            "mp_session",
            "ph_session",
            "amp_auth",
            "_gateway",
            "ajs_user_id",
            "_hjauth",
        ] {
            assert!(!is_analytics(format!("{name}=1").as_bytes()), "{name}");
        }
        for name in ANALYTICS_COOKIES {
            assert!(is_analytics(format!("{name}1=").as_bytes()), "{name}");
        }
        assert!(!is_analytics(b"_ga=1;"));
        assert!(!is_analytics(b""));
    }
}
