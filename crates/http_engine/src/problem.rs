//! Problems of a request: llhttp's codes and reasons, which users know from `clientError`.

/// A problem and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind.
    pub kind: ProblemKind,
    /// Number of valid bytes before it.
    pub at: usize,
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, at: usize) -> Self {
        Self { kind, at }
    }
}

macro_rules! problems {
    ($($name:ident $code:literal $reason:literal,)*) => {
        /// The kind of a [`Problem`]; its number crosses to JavaScript.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ProblemKind {
            $(
                #[doc = $reason]
                $name,
            )*
        }

        /// Code and reason of every [`ProblemKind`], in order.
        pub const PROBLEMS: &[(&str, &str)] = &[$(($code, $reason),)*];
    };
}

problems! {
    Method "HPE_INVALID_METHOD" "Invalid method encountered",
    MethodSpace "HPE_INVALID_METHOD" "Expected space after method",
    ForeignMethod "HPE_INVALID_CONSTANT" "Invalid method for HTTP/x.x request",
    UrlStart "HPE_INVALID_URL" "Unexpected start char in url",
    UrlSchema "HPE_INVALID_URL" "Unexpected char in url schema",
    UrlServer "HPE_INVALID_URL" "Unexpected char in url server",
    UrlDoubleAt "HPE_INVALID_URL" "Double @ in url",
    UrlPath "HPE_INVALID_URL" "Invalid char in url path",
    UrlQuery "HPE_INVALID_URL" "Invalid char in url query",
    UrlFragment "HPE_INVALID_URL" "Invalid char in url fragment",
    UrlSpace "HPE_INVALID_URL" "Invalid characters in url",
    UrlCr "HPE_INVALID_URL" "Expected CRLF",
    Protocol "HPE_INVALID_CONSTANT" "Expected HTTP/, RTSP/ or ICE/",
    VersionMajor "HPE_INVALID_VERSION" "Invalid major version",
    VersionDot "HPE_INVALID_VERSION" "Expected dot",
    VersionMinor "HPE_INVALID_VERSION" "Invalid minor version",
    Version "HPE_INVALID_VERSION" "Invalid HTTP version",
    VersionEnd "HPE_INVALID_VERSION" "Expected CRLF after version",
    VersionLf "HPE_STRICT" "Expected CRLF after version",
    Preface "HPE_PAUSED_H2_UPGRADE" "Pause on PRI/Upgrade",
    NoPreface "HPE_INVALID_VERSION" "Expected HTTP/2 Connection Preface",
    SpaceAfterStart "HPE_UNEXPECTED_SPACE" "Unexpected space after start line",
    HeaderField "HPE_INVALID_HEADER_TOKEN" "Invalid header field char",
    HeaderToken "HPE_INVALID_HEADER_TOKEN" "Invalid header token",
    HeaderValue "HPE_INVALID_HEADER_TOKEN" "Invalid header value char",
    HeaderFold "HPE_INVALID_HEADER_TOKEN" "Unexpected whitespace after header value",
    HeaderCr "HPE_CR_EXPECTED" "Missing expected CR after header value",
    HeaderLf "HPE_LF_EXPECTED" "Missing expected LF after header value",
    EmptyValueLf "HPE_STRICT" "Expected LF after CR",
    HeadersLf "HPE_STRICT" "Expected LF after headers",
    HeaderOverflow "HPE_HEADER_OVERFLOW" "Header overflow",
    LengthTwice "HPE_UNEXPECTED_CONTENT_LENGTH" "Duplicate Content-Length",
    LengthChar "HPE_INVALID_CONTENT_LENGTH" "Invalid character in Content-Length",
    LengthEmpty "HPE_INVALID_CONTENT_LENGTH" "Empty Content-Length",
    LengthOverflow "HPE_INVALID_CONTENT_LENGTH" "Content-Length overflow",
    LengthWithEncoding "HPE_INVALID_CONTENT_LENGTH" "Content-Length can't be present with Transfer-Encoding",
    EncodingWithLength "HPE_INVALID_TRANSFER_ENCODING" "Transfer-Encoding can't be present with Content-Length",
    Encoding "HPE_INVALID_TRANSFER_ENCODING" "Request has invalid `Transfer-Encoding`",
    EncodingValue "HPE_INVALID_TRANSFER_ENCODING" "Invalid `Transfer-Encoding` header value",
    EncodingEmpty "HPE_INVALID_TRANSFER_ENCODING" "Empty Transfer-Encoding",
    ChunkSize "HPE_INVALID_CHUNK_SIZE" "Invalid character in chunk size",
    ChunkOverflow "HPE_INVALID_CHUNK_SIZE" "Chunk size overflow",
    ChunkCr "HPE_CR_EXPECTED" "Missing expected CR after chunk size",
    ChunkLf "HPE_STRICT" "Expected LF after chunk size",
    ChunkDataCr "HPE_CR_EXPECTED" "Missing expected CR after chunk data",
    ChunkDataLf "HPE_STRICT" "Expected LF after chunk data",
    Extension "HPE_STRICT" "Invalid character in chunk extensions",
    ExtensionName "HPE_STRICT" "Invalid character in chunk extensions name",
    ExtensionValue "HPE_STRICT" "Invalid character in chunk extensions value",
    ExtensionQuoted "HPE_STRICT" "Invalid character in chunk extensions quoted value",
    ExtensionQuotedEnd "HPE_STRICT" "Invalid character in chunk extensions quote value",
    ExtensionPair "HPE_STRICT" "Invalid quoted-pair in chunk extensions quoted value",
    ExtensionCr "HPE_CR_EXPECTED" "Missing expected CR after chunk extension value",
    ExtensionOverflow "HPE_CHUNK_EXTENSIONS_OVERFLOW" "Chunk extensions overflow",
    EarlyEnd "HPE_INVALID_EOF_STATE" "Invalid EOF state",
    Timeout "ERR_HTTP_REQUEST_TIMEOUT" "Request timeout",
    ProxyMissing "ERR_REDLINE_HTTP_PROXY" "the connection does not begin with its header",
    ProxyLine "ERR_REDLINE_HTTP_PROXY" "its line of version 1 is invalid or too long",
    ProxyVersion "ERR_REDLINE_HTTP_PROXY" "its version or command is unknown",
    ProxyFamily "ERR_REDLINE_HTTP_PROXY" "its address family is unknown, or not of a stream",
    ProxyLength "ERR_REDLINE_HTTP_PROXY" "it is shorter than its addresses, or too long",
    ProxyValue "ERR_REDLINE_HTTP_PROXY" "its values do not fill it, or repeat the checksum",
    ProxyChecksum "ERR_REDLINE_HTTP_PROXY" "its checksum is wrong",
}
