import Foundation

/// A JSON value that can be compared: objects without order, arrays in order.
indirect enum JSON: Hashable, Decodable {
    case null
    case bool(Bool)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    init(text: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) }

    /// A realm's dump with the objects of each class in an order that depends on nothing but their contents.
    var sortedState: JSON {
        guard case .object(let classes) = self else { return self }
        return .object(
            classes.mapValues { objects in
                guard case .array(let objects) = objects else { return objects }
                return .array(objects.sorted { $0.text < $1.text })
            })
    }

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .string(let string): "\"\(string)\""
        case .array(let items): "[\(items.map(\.text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.text)" }.joined(separator: ","))}"
        }
    }
}
