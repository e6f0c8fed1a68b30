import Foundation
import SyncModel
import TestSupport
import Testing

@testable import DeviceSync

/// Decimal numbers as numbers.
@Suite(.hangGuard)
struct DecimalTests {
    @Test func numbersAreEqualHoweverTheyAreWritten() {
        let (one, other): (Decimal128, Decimal128) = ("1.50", "1.5")
        expectTrue(one == other && one.hashValue == other.hashValue && Set([one, other, "15E-1"]).count == 1)
        expectTrue(Decimal128("0") == Decimal128("-0.00") && Set<Decimal128>(["0", "-0.00", "0E5"]).count == 1)
        expectTrue(Decimal128("100") == Decimal128("1E2") && Set<Decimal128>(["100", "1E2"]).count == 1)
        expectTrue(one != "1.51" && one != "-1.5" && Decimal128("NaN") == Decimal128("NaN") && one != "NaN")
        expectTrue(AnyRealmValue.decimal128("2.0") == .decimal128("2") && AnyBSON.decimal128("2.0") == .decimal128("2"))
    }

    @Test func numbersHaveAnOrder() {
        let sorted: [Decimal128] = ["-Infinity", .min, "-1.5", "-0.3", 0, "1E-20", "0.30", 2, "1E3", .max, "Infinity"]
        expectEqual(sorted.shuffled().sorted().map(\.description), sorted.map(\.description))
        expectTrue(Decimal128("1.5") <= "1.50" && !(Decimal128("1.5") < "1.50") && Decimal128("2") > 1.5)
    }

    @Test func numbersAreAddedAndMultiplied() {
        expectTrue(Decimal128("0.1") + "0.2" == "0.3" && Decimal128("2.5") - "3.5" == -1)
        expectTrue(Decimal128("0.21") * "0.7" == 0.147 && Decimal128("0.21") / "0.7" == 0.3 && Decimal128(7) / 3.5 == 2)
        expectTrue((Decimal128(1) / 3).description == "0.3333333333333333333333333333333333")
        expectTrue((Decimal128(1) / 0) == "Infinity" && (Decimal128(0) / 0).isNaN && -Decimal128("1.5") == "-1.5")
        var sum: Decimal128 = 1
        sum += 2
        sum *= 3
        sum -= "0.5"
        expectTrue(sum == 8.5 && sum.magnitude == 8.5 && (-sum).magnitude == 8.5)
        expectTrue(sum.advanced(by: 1.5) == 10 && sum.distance(to: 10) == 1.5)
        expectEqual([Decimal128("1.1"), "2.2"].reduce(.zero, +), "3.3")
    }

    @Test func numbersAreMadeOfOthers() throws {
        let (integer, double): (Decimal128, Decimal128) = (123, 3.14159)
        expectTrue(integer == "123" && double == "3.14159" && Decimal128(number: 3.14159) == double)
        expectTrue(Decimal128(number: NSNumber(value: UInt64.max)) == "18446744073709551615")
        expectTrue(Decimal128(number: NSDecimalNumber(string: "1.10")) == "1.1" && Decimal128(number: 5) == 5)
        expectTrue(Decimal128(value: 5) == 5 && Decimal128(value: "5.5") == 5.5 && Decimal128(value: Float(0.1)) == 0.1)
        expectTrue(Decimal128(value: NSNull()).isNaN && Decimal128(value: "many").isNaN)
        expectTrue(Decimal128(value: Decimal(string: "7.25") as Any) == 7.25 && Decimal128(value: double) == double)
        expectTrue(Decimal128(exactly: 5) == 5 && Decimal128(exactly: UInt128.max) == nil)
        #expect(throws: Realm.Error.self) { try Decimal128(string: "many") }
        #expect(throws: Realm.Error.self) { try Decimal128(string: "") }
    }

    @Test func othersAreMadeOfNumbers() {
        let number: Decimal128 = "-12.50"
        expectTrue(number.doubleValue == -12.5 && number.decimalValue == Decimal(string: "-12.5"))
        expectTrue(Decimal128("1E400").decimalValue.isNaN && Decimal128("NaN").doubleValue.isNaN)
        expectTrue(Decimal128("Infinity").doubleValue == .infinity && Decimal128("1E-2").doubleValue == 0.01)
        let texts: [(Decimal128, String)] = [
            ("1.50", "1.5"), ("1.00", "1"), ("100", "100"), ("1.5e2", "1.5E2"), ("1.50E-9", "1.5E-9"),
            ("0.150", "0.15"),
            ("NaN", "NaN"), ("-inf", "-Infinity"),
        ]
        for (number, text) in texts { expectTrue(number.stringValue == text && "\(number)" == text, "\(text)") }
    }

    @Test func numbersAreKeptAsTheyAreWritten() throws {
        expectEqual(AnyBSON.decimal128("1.50").extendedJSON, .object(["$numberDecimal": .string("1.50")]))
        let json = try JSONEncoder().encode(["a": Decimal128("1.50")])
        expectEqual(String(decoding: json, as: UTF8.self), #"{"a":"1.5"}"#)
        let read = try JSONDecoder().decode([Decimal128].self, from: Data(#"["1.5", 2, 2.5]"#.utf8))
        expectEqual(read, ["1.5", 2, 2.5])
    }

    @Test func collectionsAreSummedUp() throws {
        let list = List<Decimal128>()
        list.append(objectsIn: ["1.5", 2, "2.5"])
        expectTrue(list.sum() == 6 && list.average() == 2 && list.min() == 1.5 && list.max() == 2.5)
        expectTrue(List<Decimal128>().average() == nil && List<Decimal128>().sum() == 0)
        let folder = Folder()
        let realm = try folder.models()
        try realm.write {
            for number in ["1.5", "2", "2.5"] {
                realm.create(Scalars.self, value: ["_id": UUID(), "decimal": number])
            }
        }
        let scalars = realm.objects(Scalars.self)
        expectTrue(scalars.sum(of: \.decimal) == 6 && scalars.average(of: \.decimal) == 2 as Decimal128?)
        expectTrue(scalars.min(of: \.decimal) == 1.5 && scalars.max(ofProperty: "decimal") == 2.5 as Decimal128?)
        expectTrue(
            scalars.average(ofProperty: "decimal") == 2 as Decimal128? && scalars.average(ofProperty: "double") == 0.0)
        expectEqual(scalars.where { $0.decimal >= 2 }.count, 2)
    }

    @Test func identifiersAreWrittenAsLiterals() {
        expectEqual(ObjectId("1234567890abcdef12345678").stringValue, "1234567890abcdef12345678")
    }
}
