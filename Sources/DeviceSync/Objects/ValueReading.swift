internal import Changesets
internal import Foundation
internal import RealmState

/// Turns stored values into those that an app reads.
struct ValueReading {
    let instance: RealmInstance
    let schema: StoredSchema

    /// The value at an address as the app reads it; collections and embedded objects become live handles.
    func any(_ value: Value, _ element: ElementType, at address: FieldAddress) -> Any? {
        if element.isMixed {
            let owner = ObjectHandle(instance, address.object)
            return mixed(value, at: _Field(instance: instance, address: address, property: nil, owner: owner))
        }
        if let table = schema.embeddedTarget(of: element) {
            guard case .embedded = value else { return nil }
            return ObjectHandle(instance, address.object, field: address, className: table.name).dynamic
        }
        return single(value).scalar
    }

    /// What a place holds that takes values of any type; a list or dictionary as a live one.
    func mixed(_ value: Value, at field: _Field) -> AnyRealmValue {
        switch value {
        case .list: .list(List(.managed(field.holding(.list))))
        case .dictionary: .dictionary(Map(.managed(field.holding(.map))))
        default: single(value)
        }
    }

    /// A scalar or link; null for anything else.
    func single(_ value: Value) -> AnyRealmValue {
        if case .link(let target) = value { return instance.object(target).map { .object($0) } ?? .none }
        return Self.plain(value)
    }

    /// A scalar; null for anything else.
    static func plain(_ value: Value) -> AnyRealmValue {
        switch value {
        case .null, .list, .dictionary, .set, .embedded, .link: .none
        case .int(let value): .int(Int(value))
        case .bool(let value): .bool(value)
        case .string(let value): .string(value.string)
        case .binary(let value): .data(Data(value))
        case .timestamp(let value): .date(value.date)
        case .float(let bits): .float(Float(bitPattern: bits))
        case .double(let bits): .double(Double(bitPattern: bits))
        case .decimal(let value): .decimal128(Decimal128(value))
        case .objectID(let value): .objectId(ObjectId(value))
        case .uuid(let value): .uuid(value.uuid)
        }
    }
}
