//! A header of the PROXY protocol is the same, however it comes in, and whatever follows it.

use http_engine::proxy_header::read;

pub fn run(bytes: &[u8]) {
    let whole = read(bytes);
    if let Ok(Some((header, length))) = &whole {
        assert!(*length <= bytes.len() && *length <= 16 + 16 * 1024);
        assert!(header.values.len() < *length);
        for end in 0..*length {
            assert_eq!(read(&bytes[..end]), Ok(None));
        }
        assert_eq!(read(&bytes[..*length]), whole);
    }
    for end in 0..bytes.len() {
        match read(&bytes[..end]) {
            // An invalid header stays invalid: more bytes do not change what was found.
            Err(problem) => {
                assert!(problem.at <= end);
                assert_eq!(whole.as_ref().expect_err("still wrong"), &problem);
                break;
            }
            Ok(Some((_, length))) => {
                assert!(matches!(&whole, Ok(Some((_, whole))) if *whole == length));
                break;
            }
            Ok(None) => {}
        }
    }
}
