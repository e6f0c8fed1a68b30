import TestSupport
import Testing

@testable import Operations

@Suite struct AddressRangesTests {
    private func contains(_ ranges: String, _ address: String) throws -> Bool {
        try AddressRanges(ranges).contains(try #require(IPAddress(address)))
    }

    @Test func addressesAndNetworksAreFound() throws {
        for (ranges, inside) in [
            ("10.0.0.0/8", "10.255.0.1"), ("192.0.2.1", "192.0.2.1"), ("192.0.2.128/25", "192.0.2.200"),
            ("192.0.2.1, fd00::/8", "fd12::1"), ("::1", "::1"), ("0.0.0.0/0", "203.0.113.9"),
            ("10.0.0.0/8", "::ffff:10.1.2.3"), ("2001:db8::/61", "2001:db8:0:7::1"),
        ] { try expectTrue(contains(ranges, inside), "\(ranges) \(inside)") }
        for (ranges, outside) in [
            ("10.0.0.0/8", "11.0.0.1"), ("192.0.2.128/25", "192.0.2.127"), ("0.0.0.0/0", "::2"),
            ("2001:db8::/61", "2001:db8:0:8::1"), ("192.0.2.1", "192.0.2.2"),
        ] { try expectTrue(!contains(ranges, outside), "\(ranges) \(outside)") }
        expectTrue(!AddressRanges().contains(try #require(IPAddress("127.0.0.1"))))
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0/8", "proxy.example.net", "10.0.0.0/8,", "::/129", "10.0.0.0/-1", "1/2/3",
    ])
    func textsThatNameNoAddressAreRefused(_ text: String) {
        #expect(throws: AddressRanges.Invalid.self) { try AddressRanges(text) }
    }

    @Test func aSettingNamesWhatIsWrong() async {
        let error = await #expect(throws: OperationsError.self) {
            try await SluiceConfiguration.load(environment: ["SLUICE_GATEWAY_TRUSTED_PROXIES": "10.0.0.0/8, lb"])
        }
        expectTrue(error?.code == .invalidSetting && error?.description.contains("\"lb\"") == true)
    }

    @Test func oneCustomerHasOneNetwork() throws {
        try expectEqual(#require(IPAddress("192.0.2.7")).network, "192.0.2.7")
        try expectEqual(#require(IPAddress("::ffff:192.0.2.7")).network, "192.0.2.7")
        try expectEqual(#require(IPAddress("2001:db8:1:2:3::4")).network, "2001:db8:1:2::/64")
        try expectEqual(#require(IPAddress("fe80::1%eth0")).description, "fe80::1")
    }
}
