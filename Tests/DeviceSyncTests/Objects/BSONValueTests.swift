import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// What values of documents are, and what numbers among them are as other numbers.
@Suite
struct BSONValueTests {
    @Test func valuesAreTakenOut() {
        let now = Date(timeIntervalSince1970: 1)
        expectTrue(AnyBSON.binary(Data([1])).binaryValue == Data([1]) && AnyBSON.null.binaryValue == nil)
        expectTrue(AnyBSON.datetime(now).dateValue == now && AnyBSON.timestamp(now).timestampValue == now)
        expectTrue(AnyBSON.timestamp(now).dateValue == nil && AnyBSON.decimal128("1.5").decimal128Value == 1.5)
        expectTrue(AnyBSON.string("a").regexValue == nil)
    }

    @Test func valuesAreTakenOutByType() {
        let (number, text): (Int?, String?) = (AnyBSON.int64(7).value(), AnyBSON.string("a").value())
        expectTrue(number == 7 && text == "a")
        let (other, small): (String?, Int32?) = (AnyBSON.int64(7).value(), AnyBSON.int32(3).value())
        expectTrue(other == nil && small == 3)
        let (list, document): ([AnyBSON?]?, Document?) = (AnyBSON.array([1]).value(), AnyBSON.null.value())
        expectTrue(list?.count == 1 && document == nil)
    }

    @Test func numbersAreOtherNumbersWhereTheseAreTheSame() {
        expectTrue(AnyBSON.int64(7).asInt32() == 7 && AnyBSON.int64(.max).asInt32() == nil)
        expectTrue(AnyBSON.double(2).asInt64() == 2 && AnyBSON.double(2.5).asInt64() == nil)
        expectTrue(AnyBSON.int32(3).asDouble() == 3 && AnyBSON.decimal128("2.5").asDouble() == 2.5)
        expectTrue(AnyBSON.string("2.5").asDecimal128() == 2.5 && AnyBSON.string("x").asDecimal128() == nil)
        expectTrue(AnyBSON.bool(true).asInt64() == nil && AnyBSON.bool(true).asDecimal128() == nil)
    }
}
