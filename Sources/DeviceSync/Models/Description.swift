internal import Changesets
internal import Foundation

/// What prints itself line by line, with what it holds indented, as Realm prints objects and collections.
protocol Described {
    /// - Parameter depth: how many levels are printed; none beyond them.
    func described(_ depth: Int) -> String
}

/// How objects and collections are printed.
enum Description {
    static let maxDepth = 5
    private static let maxElements = 100
    private static let maxBytes = 24
    static let tooDeep = "<Maximum depth exceeded>"

    /// What a value looks like; a missing one as Foundation prints it.
    static func of(_ value: Any?, _ depth: Int) -> String {
        guard let value = ValueConversion.unwrapped(value) else { return "(null)" }
        switch value {
        case let value as any Described: return value.described(depth)
        case let value as Data:
            let digits = value.prefix(maxBytes).map { hexText($0) }.joined()
            return "<\(digits) — \(value.count) total bytes>"
        case let value as Bool: return value ? "1" : "0"
        case let value as any PersistableEnum: return "\(value.rawValue)"
        default: return "\(value)"
        }
    }

    private static func hexText(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    /// What comes inside of something else.
    static func indented(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: "\n\t") }

    /// - Parameters:
    ///   - elements: each with what stands before it.
    ///   - place: what tells the collection from others of its kind.
    static func of(
        _ elements: some Sequence<(String, Any?)>, count: Int, name: String, at place: AnyObject, _ depth: Int
    ) -> String {
        guard depth > 0 else { return tooDeep }
        var lines: [String] = []
        for (key, element) in elements {
            if lines.count == maxElements { break }
            lines.append("\t\(key) \(indented(of(element, depth - 1)))")
        }
        let address = String(UInt(bitPattern: ObjectIdentifier(place)), radix: 16)
        var text = "\(name) <0x\(address)> (\n" + lines.joined(separator: ",\n")
        if count > lines.count { text += "\n\t... \(count - lines.count) objects skipped." }
        return text + "\n)"
    }

    /// The elements of a collection by their positions.
    static func numbered(_ elements: some Sequence) -> some Sequence<(String, Any?)> {
        elements.lazy.enumerated().lazy.map { ("[\($0)]", $1) }
    }

    /// The name of what a collection holds.
    static func name(of shape: _PropertyShape) -> String {
        if let target = shape.target { return ModelName.of(target) }
        if case .object(let name) = shape.type { return name }
        return switch shape.type {
        case .any: "mixed"
        case .decimal128: "decimal128"
        case .objectId: "object id"
        default: "\(shape.type)"
        }
    }
}

extension List: Described {
    /// The elements, line by line.
    public var description: String { described(Description.maxDepth) }

    func described(_ depth: Int) -> String {
        Description.of(
            Description.numbered(self), count: count, name: "List<\(Description.name(of: Self._shape))>", at: self,
            depth)
    }
}

extension MutableSet: Described {
    /// The members, line by line.
    public var description: String { described(Description.maxDepth) }

    func described(_ depth: Int) -> String {
        Description.of(
            Description.numbered(self), count: count, name: "MutableSet<\(Description.name(of: Self._shape))>",
            at: self,
            depth)
    }
}

extension Map: CustomStringConvertible, Described {
    /// The entries, line by line.
    public var description: String { described(Description.maxDepth) }

    func described(_ depth: Int) -> String {
        Description.of(
            lazy.map { ("[\($0.key._text)]:", $0.value) }, count: count,
            name: "Map<string, \(Description.name(of: Self._shape))>", at: self, depth)
    }
}

extension Results: Described {
    /// The objects, line by line.
    public var description: String { described(Description.maxDepth) }

    func described(_ depth: Int) -> String { described("Results", depth) }

    func described(_ name: String, _ depth: Int) -> String {
        Description.of(
            Description.numbered(self), count: count, name: "\(name)<\(className.string)>", at: identity, depth)
    }
}

extension LinkingObjects: Described {
    /// The objects, line by line.
    public var description: String { described(Description.maxDepth) }

    func described(_ depth: Int) -> String {
        results?.described("LinkingObjects", depth) ?? "LinkingObjects<\(ModelName.of(Element.self))> (\n)"
    }
}

extension ObjectBase: Described {
    /// The class and the properties, line by line, with what they link to.
    public var description: String { described(Description.maxDepth) }

    func described(_ depth: Int) -> String {
        guard depth > 0 else { return Description.tooDeep }
        guard !isInvalidated else { return "[invalid object]" }
        if let untyped { return untyped.description }
        let model = ModelSchema.of(type(of: self))
        let lines = model.properties.map { property in
            "\t\(property.swiftName) = \(Description.indented(Description.of(property.value(of: self), depth - 1)));\n"
        }
        return "\(model.name) {\n\(lines.joined())}"
    }
}
