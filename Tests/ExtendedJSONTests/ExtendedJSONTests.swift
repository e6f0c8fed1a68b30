import Changesets
import ExtendedJSON
import SeededRandom
import TestSupport
import Testing

@Suite struct ExtendedJSONTests {
    static let forms: [(String, BSONValue, String, String)] = [
        ("5", BSONValue.int32(5), "5", #"{"$numberInt":"5"}"#),
        ("-0", .int32(0), "0", #"{"$numberInt":"0"}"#),
        ("4294967296", .int64(1 << 32), "4294967296", #"{"$numberLong":"4294967296"}"#),
        (#"{"$numberLong":"5"}"#, .int64(5), "5", #"{"$numberLong":"5"}"#),
        ("1.5", .double(1.5), "1.5", #"{"$numberDouble":"1.5"}"#),
        ("1e3", .double(1000), "1000.0", #"{"$numberDouble":"1000.0"}"#),
        (#"{"$numberDouble":"-0.0"}"#, .double(-0.0), "-0.0", #"{"$numberDouble":"-0.0"}"#),
        (
            #"{"$numberDouble":"-Infinity"}"#, .double(-.infinity), #"{"$numberDouble":"-Infinity"}"#,
            #"{"$numberDouble":"-Infinity"}"#
        ),
        (#"{"$numberDouble":"NaN"}"#, .double(.nan), #"{"$numberDouble":"NaN"}"#, #"{"$numberDouble":"NaN"}"#),
        (
            #"{"$numberDecimal":"1.00"}"#, .decimal128(.init(high: 0x303C_0000_0000_0000, low: 100)),
            #"{"$numberDecimal":"1.00"}"#, #"{"$numberDecimal":"1.00"}"#
        ),
        (
            #"{"$oid":"0000000000000001000000AB"}"#, .objectID(.init(high: 1, low: 0xAB)),
            #"{"$oid":"0000000000000001000000ab"}"#, #"{"$oid":"0000000000000001000000ab"}"#
        ),
        (
            #"{"$uuid":"00000000-0000-0000-0000-000000000001"}"#, .uuid(.init(high: 0, low: 1)),
            #"{"$uuid":"00000000-0000-0000-0000-000000000001"}"#,
            #"{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAQ==","subType":"04"}}"#
        ),
        (
            #"{"$binary":{"subType":"0","base64":"AQI="}}"#, .binary([1, 2], subtype: 0),
            #"{"$binary":{"base64":"AQI=","subType":"00"}}"#, #"{"$binary":{"base64":"AQI=","subType":"00"}}"#
        ),
        (
            #"{"$date":"2024-02-29T12:00:00.5+02:00"}"#, .date(1_709_200_800_500),
            #"{"$date":"2024-02-29T10:00:00.500Z"}"#, #"{"$date":{"$numberLong":"1709200800500"}}"#
        ),
        (
            #"{"$date":{"$numberLong":"-1"}}"#, .date(-1), #"{"$date":{"$numberLong":"-1"}}"#,
            #"{"$date":{"$numberLong":"-1"}}"#
        ),
        (#"{"$date":0}"#, .date(0), #"{"$date":"1970-01-01T00:00:00Z"}"#, #"{"$date":{"$numberLong":"0"}}"#),
        (#"{"$minKey":1}"#, .minKey, #"{"$minKey":1}"#, #"{"$minKey":1}"#),
        (#"{"$set":{"a":1}}"#, ["$set": ["a": 1]], #"{"$set":{"a":1}}"#, #"{"$set":{"a":{"$numberInt":"1"}}}"#),
        (
            #""a\"\\\n\u0001é\ud83d\ude00""#, "a\"\\\n\u{1}é\u{1F600}", #""a\"\\\n\u0001é😀""#,
            #""a\"\\\n\u0001é😀""#
        ),
    ]

    @Test(arguments: forms)
    func everyTypeHasItsForms(text: String, value: BSONValue, relaxed: String, canonical: String) throws {
        expectEqual(try ExtendedJSONParser.parse(text), value)
        expectEqual(ExtendedJSONWriter.text(of: value), relaxed)
        expectEqual(ExtendedJSONWriter.text(of: value, .canonical), canonical)
    }

    static let mistakes: [(String, String)] = [
        (
            #"{"a":[{"b":{"$oid":"x"}}]}"#,
            "a[0].b.$oid: expected $oid with 24 hexadecimal digits, came \"x\" at byte 11"
        ),
        (#"{"a":1,"a":2}"#, "a: expected every key once at byte 12"),
        (#"{"a":[1,2"#, "a: expected a comma or a closing bracket at byte 9"),
        ("[1,]", "[1]: expected a value at byte 3"),
        (
            "[99999999999999999999]",
            "[0]: expected an integer of 64 bits, or a point for a double, or $numberDecimal, came 99999999999999999999 at byte 1"
        ),
        ("[1e400]", "[0]: expected a number that a double can hold, came 1e400 at byte 1"),
        (
            #"{"$numberInt":"2147483648"}"#,
            "$numberInt: expected $numberInt with an integer of 32 bits as text, came \"2147483648\" at byte 0"
        ),
        (
            #"{"$numberDouble":"0x1p3"}"#,
            "$numberDouble: expected $numberDouble with a number, Infinity, -Infinity or NaN as text, came \"0x1p3\" at byte 0"
        ),
        (
            #"{"$date":"2023-02-29T00:00:00Z"}"#,
            "$date: expected $date with an ISO 8601 time, or its milliseconds as $numberLong, came \"2023-02-29T00:00:00Z\" at byte 0"
        ),
        (#"{"$oid":"0000000000000001000000ab","x":1}"#, "expected nothing beside $oid, came x at byte 0"),
        (#"{"$code":"f()"}"#, "values of the type javascript are not supported at byte 0"),
        ("{} x", "expected the end at byte 3"),
        ("\"a\u{1}\"", "expected control characters escaped at byte 3"),
        (#""\ud800""#, "expected a low surrogate at byte 7"),
        (#"{"a b":{"$oid":1}}"#, #"["a b"].$oid: expected $oid with 24 hexadecimal digits, came int at byte 7"#),
    ]

    @Test(arguments: mistakes)
    func mistakesAreNamedWithTheirPlaces(text: String, message: String) {
        expectEqual(failure(Array(text.utf8)), message)
    }

    @Test func brokenTextIsRefused() {
        expectEqual(failure([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]), "expected valid UTF-8 at byte 4")
        // A surrogate of UTF-16, and an overlong zero.
        expectEqual(failure([0x22, 0xED, 0xA0, 0x80, 0x22]), "expected valid UTF-8 at byte 5")
        expectEqual(failure([0x22, 0xC0, 0x80, 0x22]), "expected valid UTF-8 at byte 4")
        expectEqual(failure([]), "expected a value at byte 0")
    }

    @Test func sizesAreBounded() {
        let deep = Array(String(repeating: "[", count: 100_000).utf8)
        expectTrue(failure(deep)?.hasSuffix("expected objects and arrays nested at most 128 deep at byte 128") == true)
        let objects = Array(String(repeating: #"{"a":"#, count: 100_000).utf8)
        expectTrue(failure(objects)?.hasSuffix("nested at most 128 deep at byte 640") == true)
        let many = Array(("[" + String(repeating: "0,", count: 20) + "0]").utf8)
        expectEqual(
            failure(many, ExtendedJSONLimits(values: 10)), "[9]: expected at most 10 values at byte 19")
        expectEqual(failure(many, ExtendedJSONLimits(bytes: 10)), "expected at most 10 bytes, came 43")
        let number = Array(String(repeating: "9", count: 100_000).utf8)
        expectEqual(failure(number), "expected a shorter number at byte 100000")
        let wide = "{" + (0..<1000).map { "\"k\($0)\":0" }.joined(separator: ",") + #","k7":1}"#
        expectEqual(failure(Array(wide.utf8)), "k7: expected every key once at byte \(wide.utf8.count - 1)")
    }

    private func failure(_ bytes: [UInt8], _ limits: ExtendedJSONLimits = ExtendedJSONLimits()) -> String? {
        do throws(ExtendedJSONError) {
            _ = try ExtendedJSONParser.parse(bytes, limits: limits)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: seedRanges(4, of: 500))
    func whatIsWrittenIsRead(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            let value = RandomBSON.value(&random, depth: 4)
            let canonical = ExtendedJSONWriter.text(of: value, .canonical)
            expectEqual(try ExtendedJSONParser.parse(canonical), value, "seed \(seed): \(canonical)")
            // The relaxed form loses the width of integers and nothing else.
            let relaxed = ExtendedJSONWriter.text(of: value)
            let read = try ExtendedJSONParser.parse(relaxed)
            expectEqual(read, value.narrowed, "seed \(seed): \(relaxed)")
        }
    }

    @Test func datesAreThoseOfTheCalendar() {
        // Days of 400 years, the calendar's whole cycle: every day of the year is among them.
        var previous = ""
        for day in stride(from: Int64(0), to: 146_097, by: 7) {
            guard let text = ISODate.text(day * 86_400_000) else { return expectTrue(false, "day \(day)") }
            expectTrue(previous < text, "\(previous) \(text)")
            expectEqual(ISODate.milliseconds(Array(text.utf8)), day * 86_400_000)
            previous = text
        }
        expectEqual(ISODate.text(146_096 * 86_400_000), "2369-12-31T00:00:00Z")
        expectEqual(ISODate.text(253_402_300_799_999), "9999-12-31T23:59:59.999Z")
        expectEqual(ISODate.text(253_402_300_800_000), nil)
        expectEqual(ISODate.milliseconds(Array("0001-01-01T00:00:00Z".utf8)), -62_135_596_800_000)
        expectEqual(ISODate.milliseconds(Array("1969-12-31T23:59:59.999999999Z".utf8)), -1)
    }
}

extension BSONValue {
    /// The value with integers of 32 bits where they fit.
    fileprivate var narrowed: BSONValue {
        switch self {
        case .int64(let value): BSONValue(value)
        case .array(let elements): .array(elements.map(\.narrowed))
        case .document(let document): .document(BSONDocument(document.members.map { ($0.key, $0.value.narrowed) }))
        default: self
        }
    }
}
