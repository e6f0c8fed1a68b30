import Foundation

/// A JSON value that can be compared: objects without order, arrays in order.
package indirect enum JSON: Hashable, Decodable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let object = try? container.decode([String: JSON].self) {
            self = .object(object)
        } else if let array = try? container.decode([JSON].self) {
            self = .array(array)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    package init(text: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) }

    /// A realm's dump with the objects of each class in an order that depends on nothing but their contents.
    package var sortedState: JSON {
        guard case .object(let classes) = self else { return self }
        return .object(
            classes.mapValues { objects in
                guard case .array(let objects) = objects else { return objects }
                let sorted = objects.map { (object: $0, text: $0.text) }.sorted { $0.text < $1.text }
                return .array(sorted.map(\.object))
            })
    }

    /// Members in order of their names.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let number): "\(number)"
        case .string(let string): "\"\(string)\""
        case .array(let items): "[\(items.map(\.text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.text)" }.joined(separator: ","))}"
        }
    }
}
