import Changesets
import Storage
import TestSupport
import Testing

/// Partition values as realms are named, as objects hold them, and as queries compare with them.
@Suite struct PartitionKeyTests {
    @Test(arguments: [
        ("null", "p == NULL"), (#""store-nw""#, #"p == "store-nw""#), (#""a\"b""#, #"p == B64"YSJi""#),
        (#"{"$numberLong":"-7"}"#, "p == -7"),
        (#"{"$oid":"65f0c0ffee65f0c0ffee65f0"}"#, "p == oid(65f0c0ffee65f0c0ffee65f0)"),
        (
            #"{"$binary":{"base64":"EjRWeBI0EjQSNBI0VniavA==","subType":"04"}}"#,
            "p == uuid(12345678-1234-1234-1234-12345678"
                + "9abc)"
        ),
    ])
    func aPartitionIsReadAndWritten(partition: String, query: String) throws {
        let key = try #require(PartitionKey(partition: partition))
        expectEqual(PartitionKey(partition: key.partition), key)
        expectEqual(key.query(on: "p"), query)
    }

    @Test(arguments: ["", "store", "7", "{}", #"{"$oid":"12"}"#, #"{"$numberLong":"x"}"#, "[]"])
    func anythingElseIsNone(text: String) { expectTrue(PartitionKey(partition: text) == nil) }
}
