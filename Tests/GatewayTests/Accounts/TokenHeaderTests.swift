import Foundation
import TestSupport
import Testing

@testable import Gateway

/// The headers of tokens that are shown to what reads them, and those that are not.
@Suite struct TokenHeaderTests {
    private static func isShown(_ header: String) -> Bool {
        let encoded = Data(header.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        return TokenHeader.json(of: "\(encoded).e30.AA") == Data(header.utf8)
    }

    @Test(arguments: [
        #"{"alg":"ES256","typ":"JWT","kid":"k1"}"#, #"{"alg":"RS256","x5c":["MIIB","MIIC"],"b64":false}"#,
        #"{"jwk":{"kty":"EC","key_ops":["verify"]},"crit":["exp"],"exp":1790000000,"v":-1.5}"#,
        #"{"kid":"12345678901234567890e5 \" {{{{{{","alg":"ES256"}"#,
    ])
    func ordinaryTokenHeadersAreShown(header: String) {
        expectTrue(Self.isShown(header))
    }

    /// A reader of such a header would end the process, or take a second for a kilobyte.
    @Test(arguments: [
        #"{"x":20e36}"#, #"{"x":1E30}"#, #"{"x":1.0e300}"#, #"{"x":-9300000000000000000}"#, #"{"x":[1,{"y":2e19}]}"#,
        #"{"kid":"\\","x":20e36}"#, #"{"x":[[[[1]]]]}"#, #"{"x":{"x":{"x":{"x":{}}}}}"#, "{\"x\":\"\0\"}",
    ])
    func costlyTokenHeadersAreNotShown(header: String) {
        expectTrue(!Self.isShown(header))
    }
}
