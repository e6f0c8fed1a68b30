import PostgreSQL
import Storage
import SyncModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a statement's parameter may be.
protocol ControlArgument: Sendable {
    /// NULL of the type.
    static var null: PostgresValue { get }
    var value: PostgresValue { get }
}

extension PostgresValue {
    static func list(_ arguments: [any ControlArgument]) -> [PostgresValue] { arguments.map(\.value) }
}

extension ControlValue: ControlArgument {
    static var null: PostgresValue { .text(nil) }
    var value: PostgresValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number): .int(number)
        case .boolean(let isTrue): .bool(isTrue)
        case .bytes(let bytes): .bytes(bytes)
        }
    }
}

extension Optional: ControlArgument where Wrapped: ControlArgument {
    static var null: PostgresValue { Wrapped.null }
    var value: PostgresValue { self?.value ?? Wrapped.null }
}

extension String: ControlArgument {
    static var null: PostgresValue { .text(nil) }
    var value: PostgresValue { .string(self) }
}

extension Int: ControlArgument {
    static var null: PostgresValue { .int(nil) }
    var value: PostgresValue { .int(Int64(self)) }
}

extension Int64: ControlArgument {
    static var null: PostgresValue { .int(nil) }
    var value: PostgresValue { .int(self) }
}

/// PostgreSQL's integers are signed; ours never exceed them in practice, and must not trap if they do.
extension UInt64: ControlArgument {
    static var null: PostgresValue { .int(nil) }
    var value: PostgresValue { .int(Int64(clamping: self)) }
}

extension FileIdent: ControlArgument {
    static var null: PostgresValue { .int(nil) }
    var value: PostgresValue { rawValue.value }
}

extension Bool: ControlArgument {
    static var null: PostgresValue { .bool(nil) }
    var value: PostgresValue { .bool(self) }
}

extension Data: ControlArgument {
    static var null: PostgresValue { .bytes(nil) }
    var value: PostgresValue { .bytes([UInt8](self)) }
}

extension Array: ControlArgument where Element: ControlListElement {
    static var null: PostgresValue { Element.list([]) }
    var value: PostgresValue { Element.list(self) }
}

/// What a statement's parameter may be a list of, one for each row.
protocol ControlListElement: Sendable {
    static func list(_ values: [Self]) -> PostgresValue
}

extension UInt8: ControlListElement {
    static func list(_ values: [UInt8]) -> PostgresValue { .bytes(values) }
}

extension Int: ControlListElement {
    static func list(_ values: [Int]) -> PostgresValue { .ints(values.map(Int64.init)) }
}

extension UInt64: ControlListElement {
    static func list(_ values: [UInt64]) -> PostgresValue { .ints(values.map { Int64(clamping: $0) }) }
}

extension FileIdent: ControlListElement {
    static func list(_ values: [FileIdent]) -> PostgresValue { UInt64.list(values.map(\.rawValue)) }
}

extension String: ControlListElement {
    static func list(_ values: [String]) -> PostgresValue { .strings(values) }
}

extension Bool: ControlListElement {
    static func list(_ values: [Bool]) -> PostgresValue { .bools(values) }
}

extension Optional: ControlListElement where Wrapped: ControlOptionalElement {
    static func list(_ values: [Wrapped?]) -> PostgresValue { Wrapped.optionals(values) }
}

/// What a list may lack.
protocol ControlOptionalElement: Sendable {
    static func optionals(_ values: [Self?]) -> PostgresValue
}

extension String: ControlOptionalElement {
    static func optionals(_ values: [String?]) -> PostgresValue {
        .optionalStrings(values)
    }
}

extension Int: ControlOptionalElement {
    static func optionals(_ values: [Int?]) -> PostgresValue { .optionalInts(values.map { $0.map(Int64.init) }) }
}

extension UInt64: ControlOptionalElement {
    static func optionals(_ values: [UInt64?]) -> PostgresValue {
        .optionalInts(values.map { $0.map { Int64(clamping: $0) } })
    }
}

extension FileIdent: ControlOptionalElement {
    static func optionals(_ values: [FileIdent?]) -> PostgresValue { UInt64.optionals(values.map { $0?.rawValue }) }
}
