import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct StateDumpTests {
    @Test func orderAndWrittenDefaultsDoNotShow() throws {
        var one = RealmState()
        try one.apply { builder in
            builder.table("B")
            builder.table("A")
            builder.column("A", "x", .int)
            builder.column("A", "y", .string, nullable: true)
            builder.create("A", .int(1))
            builder.create("A", .int(2))
            builder.update(FieldAddress(ObjectAddress("A", .int(1)), "x"), .int(0))
        }
        var other = RealmState()
        try other.apply { builder in
            builder.table("A")
            builder.column("A", "gone", .int)
            builder.column("A", "y", .string, nullable: true)
            builder.column("A", "x", .int)
            builder.eraseColumn("A", "gone")
            builder.create("A", .int(2))
            builder.create("A", .int(1))
            builder.table("B")
        }
        expectEqual(StateDump.canonical(of: one), StateDump.canonical(of: other))
        expectEqual(StateDump.digest(of: one), StateDump.digest(of: other))
        try other.apply { $0.update(FieldAddress(ObjectAddress("A", .int(1)), "x"), .int(1)) }
        expectTrue(StateDump.canonical(of: one) != StateDump.canonical(of: other))
        expectTrue(StateDump.digest(of: one) != StateDump.digest(of: other))
        expectEqual(StateDump.digest(of: one).description.count, 32)
    }

    @Test func everyTypeHasItsExtendedJSON() throws {
        var state = RealmState()
        let object = ObjectAddress("T", .null)
        let values: [(ByteString, PayloadType, Payload, String)] = [
            ("int", .int, .int(-5), #"{"$numberLong":"-5"}"#),
            ("bool", .bool, .bool(true), "true"),
            ("text", .string, .string("a\"\\\n\u{1}é"), #""a\"\\\n\u0001é""#),
            ("bin", .binary, .binary([1, 2]), #"{"$binary":{"base64":"AQI=","subType":"00"}}"#),
            (
                "date", .timestamp, .timestamp(.init(seconds: -1, nanoseconds: -500_999_999)),
                #"{"$date":{"$numberLong":"-1500"}}"#
            ),
            ("float", .float, .float(bits: Float(2.5).bitPattern), #"{"$numberDouble":"2.5000000e+00"}"#),
            ("double", .double, .double(bits: (-0.1).bitPattern), #"{"$numberDouble":"-1.0000000000000001e-01"}"#),
            ("nan", .double, .double(bits: Double.nan.bitPattern), #"{"$numberDouble":"NaN"}"#),
            ("oid", .objectID, .objectID(.init(high: 1, low: 0xAB)), #"{"$oid":"0000000000000001000000ab"}"#),
            (
                "uuid", .uuid, .uuid(.init(high: 0, low: 1)),
                #"{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAQ==","subType":"04"}}"#
            ),
        ]
        try state.apply { builder in
            builder.table("T", type: .string, nullable: true)
            builder.create("T", .null)
            for (name, type, payload, _) in values {
                builder.column("T", name, type)
                builder.update(FieldAddress(object, name), payload)
            }
        }
        let members = values.map { "\"\($0.0)\":\($0.3)" }.joined(separator: ",")
        expectEqual(StateDump.json(of: object, in: state), "{\"_id\":null,\(members)}")
        expectEqual(StateDump.json(of: state), "{\"T\":[{\"_id\":null,\(members)}]}")
    }

    @Test(arguments: [
        (UInt64(12345), -2, false, "123.45"), (0, 0, false, "0"), (5, 0, true, "-5"), (5, -3, false, "0.005"),
        (5, -8, false, "5E-8"), (123, 3, false, "1.23E+5"), (100, -2, false, "1.00"),
    ])
    func decimalsArePrintedWithTheirPlaces(digits: UInt64, exponent: Int, negative: Bool, text: String) throws {
        var state = RealmState()
        let object = ObjectAddress("T", .int(1))
        let high = UInt64(exponent + 6176) << 49 | (negative ? 1 << 63 : 0)
        try state.apply { builder in
            builder.table("T")
            builder.column("T", "d", .decimal)
            builder.create("T", .int(1))
            builder.update(FieldAddress(object, "d"), .decimal(.init(high: high, low: digits)))
        }
        expectEqual(
            StateDump.json(of: object, in: state), #"{"_id":{"$numberLong":"1"},"d":{"$numberDecimal":"\#(text)"}}"#)
    }

    @Test func unresolvedLinksShowOnlyInTypedLists() throws {
        var state = try SampleRealm.make()
        let gone = ObjectAddress("U", .string("gone"))
        try state.apply { builder in
            let link = Payload(.link(gone), &builder.changeset.strings)
            builder.update(SampleRealm.at("link"), link)
            builder.update(SampleRealm.at("mx"), link)
            builder.insert(SampleRealm.at("ll", .index(0)), link, priorSize: 0)
            builder.insert(SampleRealm.at("lm", .index(0)), link, priorSize: 0)
            builder.update(SampleRealm.at("dl", .key("k")), link)
            builder.update(SampleRealm.at("any"), linkTo: SampleRealm.target)
        }
        let json = try #require(StateDump.json(of: SampleRealm.object, in: state))
        for part in [
            #""link":null"#, #""mx":null"#, #""ll":["gone"]"#, #""lm":[null]"#, #""dl":{"k":null}"#,
            #""any":{"$link":{"table":"U","key":"a"}}"#,
        ] {
            expectTrue(json.contains(part), "\(part) in \(json)")
        }
    }
}
