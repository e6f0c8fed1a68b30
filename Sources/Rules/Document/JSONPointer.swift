/// Where something stands in a JSON document (RFC 6901): `/classes/Dog/0/name`. Empty for the whole document.
struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    private(set) var description = ""

    static let root = JSONPointer()

    func key(_ key: String) -> JSONPointer {
        let escaped = key.prefix(80).replacing("~", with: "~0").replacing("/", with: "~1")
        return JSONPointer(description: "\(description)/\(escaped)")
    }

    func index(_ index: Int) -> JSONPointer { JSONPointer(description: "\(description)/\(index)") }

    private init(description: String = "") { self.description = description }
}
