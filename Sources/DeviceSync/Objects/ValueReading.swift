internal import Changesets
internal import Foundation
internal import RealmState

/// Turns stored values into those that an app reads.
struct ValueReading {
    let instance: RealmInstance
    let schema: Schema

    /// The value at an address as the app reads it; collections and embedded objects become live handles.
    func any(_ value: Value, _ element: ElementType, at address: FieldAddress) -> Any? {
        if element.isMixed { return mixed(value) }
        if let table = schema.embeddedTarget(of: element) {
            guard case .embedded = value else { return nil }
            return DynamicObject(instance: instance, address: address.object, field: address, table: table.name)
        }
        return mixed(value).scalar
    }

    func mixed(_ value: Value) -> AnyRealmValue {
        switch value {
        case .null, .set, .embedded: .none
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
        case .link(let target): instance.object(target).map(AnyRealmValue.object) ?? .none
        case .list(let items): .list(items.map(mixed))
        case .dictionary(let entries):
            .dictionary(
                Dictionary(entries.map { ($0.key.string, mixed($0.value)) }, uniquingKeysWith: { first, _ in first }))
        }
    }
}
