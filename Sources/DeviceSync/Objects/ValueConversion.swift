internal import Changesets
internal import Foundation
internal import RealmState

/// A value that an app passed and that does not fit where it should go: a programming error.
struct ValueMismatch: Error, CustomStringConvertible {
    var description: String
}

/// Between what an app passes and what a realm holds.
struct ValueConversion {
    let schema: Schema

    /// For calls that cannot throw: a value of a wrong type is a programming error.
    static func orTrap<Result>(_ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    // MARK: Into the realm

    /// What goes into a single property, slot or entry of the given type.
    func value(_ any: Any?, as element: ElementType) throws -> Value {
        guard let any = Self.unwrapped(any) else { return .null }
        if let embedded = schema.embeddedTarget(of: element) { return try self.embedded(any, embedded) }
        if let mixed = any as? AnyRealmValue { return try value(mixed, as: element) }
        if let number = Self.number(any, as: element) { return number }
        if let scalar = Self.scalar(any) { return scalar }
        guard element.isMixed else { throw ValueMismatch(description: "cannot store a \(type(of: any)) here") }
        if let dictionary = any as? [String: Any?] {
            return .dictionary(try entries(dictionary, as: .mixed))
        }
        if let list = any as? [Any?] { return .list(try list.map { try value($0, as: .mixed) }) }
        if let list = any as? DynamicList { return try value(list.anyValue, as: element) }
        if let map = any as? DynamicMap { return try value(map.anyValue, as: element) }
        throw ValueMismatch(description: "cannot store a \(type(of: any)) here")
    }

    /// What goes into a property, collections included.
    func value(_ any: Any?, for column: ColumnSchema) throws -> Value {
        switch column.collection {
        case .single: return try value(any, as: column.element)
        case .list: return .list(try elements(any).map { try value($0, as: column.element) })
        case .set:
            var members: [Value] = []
            for member in try elements(any).map({ try value($0, as: column.element) }) {
                if !members.contains(where: { Value.compare($0, member) == 0 }) { members.append(member) }
            }
            return .set(members.sorted(by: Value.setOrder))
        case .dictionary:
            if let map = any as? DynamicMap { return .dictionary(try entries(map.dictionary, as: column.element)) }
            guard let dictionary = any as? [String: Any?] else {
                throw ValueMismatch(description: "\(column.name) needs a dictionary, came \(Self.name(any))")
            }
            return .dictionary(try entries(dictionary, as: column.element))
        }
    }

    /// The key of an object of a class.
    func key(_ any: Any?, of table: TableSchema) throws -> ObjectKey {
        guard let schema = table.key else {
            throw ValueMismatch(description: "\(table.name) is embedded, it has no key")
        }
        switch try value(any, as: ElementType(type: schema.type, nullable: schema.nullable)) {
        case .null: return .null
        case .int(let value): return .int(value)
        case .string(let value): return .string(value)
        case .objectID(let value): return .objectID(value)
        case .uuid(let value): return .uuid(value)
        default: throw ValueMismatch(description: "a \(Self.name(any)) cannot be a primary key")
        }
    }

    private func entries(_ dictionary: [String: Any?], as element: ElementType) throws -> [ByteString: Value] {
        var result: [ByteString: Value] = [:]
        for (key, item) in dictionary {
            guard !key.hasPrefix("$"), !key.contains(".") else {
                throw ValueMismatch(description: "a dictionary key must not start with $ nor contain a dot: \(key)")
            }
            result[ByteString(key)] = try value(item, as: element)
        }
        return result
    }

    private func elements(_ any: Any?) throws -> [Any?] {
        switch any {
        case let list as DynamicList: return Array(list)
        case let set as DynamicSet: return Array(set)
        case let list as [Any?]: return list
        case let results as Results<DynamicObject>: return Array(results)
        case let set as Set<AnyHashable>: return set.map { $0.base }
        default: throw ValueMismatch(description: "expected an array, came \(Self.name(any))")
        }
    }

    private func embedded(_ any: Any, _ table: TableSchema) throws -> Value {
        if let object = any as? DynamicObject {
            guard let stored = object.stored else { throw ValueMismatch(description: "the object is gone") }
            return .embedded(stored)
        }
        guard let dictionary = any as? [String: Any?] else {
            throw ValueMismatch(description: "\(table.name) needs a dictionary, came \(type(of: any))")
        }
        var object = StoredObject()
        for (name, item) in dictionary {
            guard let column = table.column(ByteString(name)) else {
                throw ValueMismatch(description: "\(table.name) has no property \(name)")
            }
            object[column.id] = try value(item, for: column)
        }
        return .embedded(object)
    }

    private func value(_ mixed: AnyRealmValue, as element: ElementType) throws -> Value {
        switch mixed {
        case .none: return .null
        case .int(let value): return try self.value(value, as: element)
        case .bool(let value): return .bool(value)
        case .float(let value): return .float(bits: value.bitPattern)
        case .double(let value): return .double(bits: value.bitPattern)
        case .string(let value): return .string(ByteString(value))
        case .data(let value): return .binary([UInt8](value))
        case .date(let value): return .timestamp(TimestampValue(value))
        case .object(let value): return try self.value(value, as: element)
        case .objectId(let value): return .objectID(value.value)
        case .decimal128(let value): return .decimal(value.value)
        case .uuid(let value): return .uuid(UUIDValue(value))
        case .dictionary(let value): return .dictionary(try entries(value, as: .mixed))
        case .list(let value): return .list(try value.map { try self.value($0, as: .mixed) })
        }
    }

    /// Numbers fit into columns of a wider type: literals would not be usable otherwise.
    private static func number(_ any: Any, as element: ElementType) -> Value? {
        switch (element.type, any) {
        case (.double, let value as Int): .double(bits: Double(value).bitPattern)
        case (.double, let value as Float): .double(bits: Double(value).bitPattern)
        case (.float, let value as Int): .float(bits: Float(value).bitPattern)
        case (.float, let value as Double): .float(bits: Float(value).bitPattern)
        case (.decimal, let value as Int): .decimal(Decimal128(integerLiteral: value).value)
        default: nil
        }
    }

    private static func scalar(_ any: Any) -> Value? {
        switch any {
        case let value as Bool: .bool(value)
        case let value as Int: .int(Int64(value))
        case let value as Int8: .int(Int64(value))
        case let value as Int16: .int(Int64(value))
        case let value as Int32: .int(Int64(value))
        case let value as Int64: .int(value)
        case let value as Float: .float(bits: value.bitPattern)
        case let value as Double: .double(bits: value.bitPattern)
        case let value as String: .string(ByteString(value))
        case let value as Data: .binary([UInt8](value))
        case let value as Date: .timestamp(TimestampValue(value))
        case let value as ObjectId: .objectID(value.value)
        case let value as UUID: .uuid(UUIDValue(value))
        case let value as Decimal128: .decimal(value.value)
        case let value as DynamicObject where !value.isEmbedded: .link(value.address)
        default: nil
        }
    }

    /// An optional inside of `Any` counts as what it wraps.
    private static func unwrapped(_ any: Any?) -> Any? {
        guard let any else { return nil }
        if any is NSNull { return nil }
        let mirror = Mirror(reflecting: any)
        guard mirror.displayStyle == .optional else { return any }
        return mirror.children.first.flatMap { unwrapped($0.value) }
    }

    private static func name(_ any: Any?) -> String { any.map { "\(type(of: $0))" } ?? "nil" }
}

extension TimestampValue {
    init(_ date: Date) {
        let interval = date.timeIntervalSince1970
        let seconds = interval.rounded(.towardZero)
        self.init(
            seconds: Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max),
            nanoseconds: Int32(((interval - seconds) * 1_000_000_000).rounded(.towardZero)))
    }

    var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1_000_000_000) }
}

extension UUIDValue {
    init(_ uuid: UUID) {
        let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        self.init(
            high: bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    var uuid: UUID {
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
                byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
                byte(low, 6), byte(low, 7)
            ))
    }
}
