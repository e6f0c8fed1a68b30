import Changesets
import SyncModel

/// The objects that stand for one value, such as `{"$oid": "..."}`.
enum ExtendedJSONWrapper {
    /// The value that a document stands for; nil if its first key is that of no wrapper.
    static func value(of document: BSONDocument) throws(ExtendedJSONError) -> BSONValue? {
        guard let first = document.members.first, first.key.first == UInt8(ascii: "$"),
            let wrapper = Wrapper(rawValue: first.key.string)
        else { return nil }
        if let type = wrapper.unsupportedType {
            throw ExtendedJSONError(.unsupportedType, "values of the type \(type) are not supported")
        }
        guard document.count == 1 else {
            throw ExtendedJSONError(
                .invalidValue, "expected nothing beside \(wrapper.rawValue), came \(document.members[1].key)")
        }
        guard let value = wrapper.value(first.value) else {
            throw ExtendedJSONError(
                .invalidValue, "expected \(wrapper.rawValue) with \(wrapper.content), came \(first.value.shortText)",
                at: .root.key(first.key))
        }
        return value
    }

    private enum Wrapper: String {
        case numberInt = "$numberInt"
        case numberLong = "$numberLong"
        case numberDouble = "$numberDouble"
        case numberDecimal = "$numberDecimal"
        case oid = "$oid"
        case uuid = "$uuid"
        case date = "$date"
        case binary = "$binary"
        case regularExpression = "$regularExpression"
        case timestamp = "$timestamp"
        case minKey = "$minKey"
        case maxKey = "$maxKey"
        case undefined = "$undefined"
        case code = "$code"
        case symbol = "$symbol"
        case dbPointer = "$dbPointer"

        var unsupportedType: String? {
            switch self {
            case .undefined: "undefined"
            case .code: "javascript"
            case .symbol: "symbol"
            case .dbPointer: "dbPointer"
            default: nil
            }
        }

        /// What the wrapper has to contain, for people.
        var content: String {
            switch self {
            case .numberInt: "an integer of 32 bits as text"
            case .numberLong: "an integer of 64 bits as text"
            case .numberDouble: "a number, Infinity, -Infinity or NaN as text"
            case .numberDecimal: "a decimal number of at most 34 digits as text"
            case .oid: "24 hexadecimal digits"
            case .uuid: "a UUID with its hyphens"
            case .date: "an ISO 8601 time, or its milliseconds as $numberLong"
            case .binary: "base64 and subType, of 16 bytes if that is 04"
            case .regularExpression: "pattern and options"
            case .timestamp: "t and i"
            case .minKey, .maxKey: "1"
            case .undefined, .code, .symbol, .dbPointer: ""
            }
        }

        /// Nil if the content is not what it has to be.
        func value(_ content: BSONValue) -> BSONValue? {
            switch (self, content) {
            case (.numberInt, .string(let text)): return Int32(text.string).map { .int32($0) }
            case (.numberLong, .string(let text)): return Int64(text.string).map { .int64($0) }
            case (.numberDouble, .string(let text)): return Self.double(text.string).map { .double($0) }
            case (.numberDecimal, .string(let text)): return Decimal128Value(text.string).map { .decimal128($0) }
            case (.oid, .string(let text)): return ObjectIDValue(hex: text.string).map { .objectID($0) }
            case (.uuid, .string(let text)): return UUIDValue(text.string).map { .uuid($0) }
            case (.date, .string(let text)): return ISODate.milliseconds(text.bytes).map { .date($0) }
            case (.date, _): return content.integer.map { .date($0) }
            case (.binary, .document(let members)): return Self.binary(members)
            case (.regularExpression, .document(let members)):
                guard members.count == 2, let pattern = members["pattern"]?.string,
                    let options = members["options"]?.string
                else { return nil }
                return .regularExpression(pattern: pattern.string, options: options.string)
            case (.timestamp, .document(let members)):
                guard members.count == 2, let seconds = members["t"]?.integer, let increment = members["i"]?.integer,
                    let seconds = UInt32(exactly: seconds), let increment = UInt32(exactly: increment)
                else { return nil }
                return .timestamp(seconds: seconds, increment: increment)
            case (.minKey, _): return content.integer == 1 ? .minKey : nil
            case (.maxKey, _): return content.integer == 1 ? .maxKey : nil
            default: return nil
            }
        }

        private static func double(_ text: String) -> Double? {
            switch text {
            case "NaN": return .nan
            case "Infinity": return .infinity
            case "-Infinity": return -.infinity
            default: break
            }
            // What Swift reads besides: hexadecimal numbers, and other spellings of the three above.
            guard text.utf8.count <= 400, text.utf8.allSatisfy({ Array("0123456789+-.eE".utf8).contains($0) }),
                let value = Double(text), value.isFinite
            else { return nil }
            return value
        }

        private static func binary(_ members: BSONDocument) -> BSONValue? {
            guard members.count == 2, let text = members["base64"]?.string, let bytes = Base64.decode(text.bytes),
                let subtype = members["subType"]?.string, (1...2).contains(subtype.count),
                let number = UInt8(subtype.string, radix: 16)
            else { return nil }
            guard number == 4 else { return .binary(bytes, subtype: number) }
            return UUIDValue(bytes: bytes).map { .uuid($0) }
        }
    }
}

extension BSONValue {
    /// The value for errors: its type, and a short text as it stands.
    var shortText: String {
        if case .string(let text) = self { "\"\(text.string.shortened)\"" } else { typeName }
    }
}
