internal import Changesets
internal import ExtendedJSON
internal import Foundation
internal import RealmState

/// The error of a value that an app passed and that does not fit its property: a mistake in the program.
struct ValueMismatch: Error, CustomStringConvertible {
    var description: String
}

/// Turns the values that an app passes into stored values.
struct ValueConversion {
    let schema: StoredSchema

    /// Runs `body` for a call that cannot throw; an error traps, since a value of a wrong type is a mistake in the
    /// program.
    static func orTrap<Result>(_ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Traps at a key that no dictionary may have.
    static func checkKey(_ key: String) {
        if let fault = ByteString(key).dictionaryKeyFault { preconditionFailure(fault) }
    }

    // MARK: Into the realm

    /// The stored form of what an app passed for a property, element or entry of the given type.
    /// - Parameter depth: how many collections of values of any type are around it.
    func value(_ any: Any?, as element: ElementType, depth: Int = 0) throws -> Value {
        guard let any = Self.unwrapped(any) else { return .null }
        if let embedded = schema.embeddedTarget(of: element) { return try self.embedded(any, embedded) }
        if let mixed = any as? AnyRealmValue { return try value(mixed, as: element, depth: depth) }
        if let number = Self.number(any, as: element) { return number }
        if let scalar = Self.scalar(any) { return scalar }
        guard element.isMixed else { throw ValueMismatch(description: "cannot store a \(type(of: any)) here") }
        switch any {
        case let list as List<AnyRealmValue>: return try value(.list(list), as: element, depth: depth)
        case let map as Map<String, AnyRealmValue>: return try value(.dictionary(map), as: element, depth: depth)
        case let list as DynamicList: return try self.list(Array(list), depth: depth)
        case let map as DynamicMap: return try dictionary(map.dictionary, depth: depth)
        case let entries as [String: Any?]: return try dictionary(entries, depth: depth)
        case let items as [Any?]: return try list(items, depth: depth)
        default: throw ValueMismatch(description: "cannot store a \(type(of: any)) here")
        }
    }

    private func list(_ items: [Any?], depth: Int) throws -> Value {
        try checkNesting(depth)
        return .list(try items.map { try value($0, as: .mixed, depth: depth + 1) })
    }

    private func dictionary(_ items: [String: Any?], depth: Int) throws -> Value {
        try checkNesting(depth)
        return .dictionary(try entries(items, as: .mixed, depth: depth + 1))
    }

    private func checkNesting(_ depth: Int) throws {
        guard depth < ChangesetLimits.maxNesting else {
            throw ValueMismatch(
                description:
                    "lists and dictionaries in values of any type can be nested \(ChangesetLimits.maxNesting) levels deep; "
                    + "these go deeper, or one holds itself")
        }
    }

    /// The stored form of what an app passed for a property, which may be a collection.
    func value(_ any: Any?, for column: ColumnSchema) throws -> Value {
        switch column.collection {
        case .single: return try value(any, as: column.element)
        case .list: return .list(try Self.elements(any).map { try value($0, as: column.element) })
        case .set: return .set(ofDistinct: try Self.elements(any).map { try value($0, as: column.element) })
        case .dictionary:
            guard let any = Self.unwrapped(any) else { return .dictionary([:]) }
            if let map = any as? DynamicMap { return .dictionary(try entries(map.dictionary, as: column.element)) }
            guard let dictionary = any as? [String: Any?] else {
                throw ValueMismatch(description: "\(column.name) needs a dictionary, came \(Self.name(any))")
            }
            return .dictionary(try entries(dictionary, as: column.element))
        }
    }

    /// The primary key that an app passed for an object of a class.
    func key(_ any: Any?, of table: TableSchema) throws -> ObjectKey {
        guard let schema = table.key else {
            throw ValueMismatch(description: "\(table.name) is embedded, it has no key")
        }
        // A class without a primary key gives each object a new key.
        if schema.type == .globalKey { return .unique() }
        switch try value(any, as: ElementType(type: schema.type, nullable: schema.nullable)) {
        case .null: return .null
        case .int(let value): return .int(value)
        case .string(let value): return .string(value)
        case .objectID(let value): return .objectID(value)
        case .uuid(let value): return .uuid(value)
        default: throw ValueMismatch(description: "a \(Self.name(any)) cannot be a primary key")
        }
    }

    private func entries(
        _ dictionary: [String: Any?], as element: ElementType, depth: Int = 0
    ) throws -> [ByteString: Value] {
        var result: [ByteString: Value] = [:]
        for (key, item) in dictionary {
            let name = ByteString(key)
            if let fault = name.dictionaryKeyFault { throw ValueMismatch(description: fault) }
            result[name] = try value(item, as: element, depth: depth)
        }
        return result
    }

    /// The elements of a collection that an app passed for one of a realm.
    static func elements(_ any: Any?) throws -> [Any?] {
        switch unwrapped(any) {
        case let list as DynamicList: return Array(list)
        case let set as DynamicSet: return Array(set)
        case let list as [Any?]: return list
        case let set as Set<AnyHashable>: return set.map { $0.base }
        case nil: return []
        case let collection as any RealmCollection: return array(collection)
        default: throw ValueMismatch(description: "expected an array, came \(Self.name(any))")
        }
    }

    private static func array(_ collection: some RealmCollection) -> [Any?] { collection.map { $0 } }

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
            guard let column = table.column(ByteString(name)) else { continue }
            object[column.id] = try value(item, for: column)
        }
        return .embedded(object)
    }

    private func value(_ mixed: AnyRealmValue, as element: ElementType, depth: Int) throws -> Value {
        if let field = mixed.collectionField {
            guard let value = field.collection else {
                throw ValueMismatch(description: "the list or dictionary is gone: another value is in its place")
            }
            return value
        }
        return switch mixed {
        case .dictionary(let map): try dictionary(map.contents, depth: depth)
        case .list(let list): try self.list(Array(list), depth: depth)
        case .object(let object) where object.handle == nil:
            throw ValueMismatch(
                description:
                    "add the \(ModelName.of(type(of: object))) object to the realm before its link is stored here")
        default: try value(mixed.scalar, as: element, depth: depth)
        }
    }

    /// What a column takes a value of another type for, as a typed property does: so that `1` can be written into a property of doubles.
    private static func number(_ any: Any, as element: ElementType) -> Value? {
        let scalar: (any _Scalar)? =
            switch element.type {
            case .int: any is Bool ? Int._scalar(from: any) : nil
            case .bool: Bool._scalar(from: any)
            case .double: Double._scalar(from: any)
            case .float: Float._scalar(from: any)
            case .decimal: Decimal128._scalar(from: any)
            default: nil
            }
        return scalar?._stored.value
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
        case let value as Object: value.handle.map { .link($0.address) }
        case let value as any _Scalar: value._stored.value
        default: nil
        }
    }

    /// Unwraps an optional inside of `Any`, and what Foundation's classes stand for, as JSON has them.
    static func unwrapped(_ any: Any?) -> Any? {
        guard let any else { return nil }
        if type(of: any) is AnyClass { return plain(any) }
        let mirror = Mirror(reflecting: any)
        guard mirror.displayStyle == .optional else { return any }
        return mirror.children.first.flatMap { unwrapped($0.value) }
    }

    /// The value of an object of Foundation: a number as the type that it was made of. Other objects stay as they are.
    private static func plain(_ object: Any) -> Any? {
        switch object {
        case is NSNull: return nil
        case let number as NSDecimalNumber: return Decimal128Value(number.stringValue).map { Decimal128($0) }
        case let number as NSNumber: return plain(number)
        case let text as NSString: return "\(text)"
        case let set as NSSet: return set.allObjects
        case let set as NSOrderedSet: return set.array
        default: return object
        }
    }

    private static func plain(_ number: NSNumber) -> Any {
        switch number.objCType.pointee {
        // Boolean values alone have this type here; Swift's casts take every 0 and 1 for one.
        case CChar(UInt8(ascii: "c")): number.boolValue
        case CChar(UInt8(ascii: "d")): number.doubleValue
        case CChar(UInt8(ascii: "f")): number.floatValue
        case CChar(UInt8(ascii: "Q")): Int(exactly: number.uint64Value) ?? number.uint64Value
        default: number.intValue
        }
    }

    private static func name(_ any: Any?) -> String { any.map { "\(type(of: $0))" } ?? "nil" }
}

extension Value {
    /// A set of the values; of those that compare as equal, the first.
    static func set(ofDistinct values: [Value]) -> Value {
        let sorted = values.enumerated().sorted { left, right in
            let order = compare(left.element, right.element)
            return order == 0 ? left.offset < right.offset : order < 0
        }
        var members: [Value] = []
        for (_, value) in sorted where members.last.map({ compare($0, value) != 0 }) ?? true { members.append(value) }
        return .set(members)
    }
}

extension TimestampValue {
    init(_ date: Date) {
        // What `Date` keeps is the distance from 2001: that from 1970 would lose digits, so that a date would not read back as the same.
        let interval = date.timeIntervalSinceReferenceDate
        let whole = interval.rounded(.towardZero)
        guard let since2001 = Int64(exactly: whole),
            case let (since1970, false) = since2001.addingReportingOverflow(Self.from1970To2001)
        else {
            // No time at all, or one before or after all that can be told.
            switch interval {
            case ..<0: self.init(seconds: .min, nanoseconds: -Self.maxNanoseconds)
            case 0...: self.init(seconds: .max, nanoseconds: Self.maxNanoseconds)
            default: self.init(seconds: 0, nanoseconds: 0)
            }
            return
        }
        let nanoseconds = Int32(((interval - whole) * 1_000_000_000).rounded(.towardZero))
        // Seconds and nanoseconds have one sign.
        if nanoseconds < 0, since1970 > 0 {
            self.init(seconds: since1970 - 1, nanoseconds: nanoseconds + 1_000_000_000)
        } else {
            self.init(seconds: since1970, nanoseconds: nanoseconds)
        }
    }

    private static let from1970To2001: Int64 = 978_307_200
    private static let maxNanoseconds: Int32 = 999_999_999

    var date: Date {
        let since2001 = Double(seconds) - Double(Self.from1970To2001)
        return Date(timeIntervalSinceReferenceDate: since2001 + Double(nanoseconds) / 1_000_000_000)
    }
}

extension UUIDValue {
    init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) { bytes in
            UUIDValue(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    var uuid: UUID {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
