import TestSupport
import Testing

@testable import Operations

@Suite struct ReachableAddressTests {
    @Test func anAddressOfItsOwnIsSaidAsItIs() {
        expectEqual(ReachableAddress.url(isSecure: false, host: "127.0.0.1", port: 9101), "http://127.0.0.1:9101")
        expectEqual(ReachableAddress.url(isSecure: true, host: "::1", port: 1), "https://[::1]:1")
    }

    @Test func everywhereIsSaidAsAnAddressThatLeadsHere() {
        let url = ReachableAddress.url(isSecure: false, host: "0.0.0.0", port: 9101)
        expectTrue(!url.contains("0.0.0.0") && url.hasSuffix(":9101"), "\(url)")
        // Certificates are made out to names.
        expectEqual(
            ReachableAddress.url(isSecure: true, host: "::", port: 9101), "https://\(ReachableAddress.machine):9101")
    }
}
