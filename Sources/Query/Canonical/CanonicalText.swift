import Changesets
import RealmState

/// A query in the one text that clients send for it. What that loses, conditions that vanish among it, is lost here in the same way, unless the
/// text is to be exact.
struct CanonicalText {
    /// What the subqueries around call the objects that they look at.
    private var variables: [String] = []
    private let schema: QuerySchema?
    /// Where the constants go, if the text is to be that of a template: it then tells apart all that does not mean the same.
    private let collector: ConstantCollector?
    /// The text is to select what the query does: with all digits, and with conditions that clients leave out.
    private let isExact: Bool

    init(schema: QuerySchema?, collector: ConstantCollector? = nil, isExact: Bool = false) {
        self.schema = schema
        self.collector = collector
        self.isExact = isExact || collector != nil
    }

    static func path(_ path: QueryPath) -> String { CanonicalText(schema: nil).text(path, withQuantifier: false) }

    // MARK: Conditions

    /// Returns a condition's text. Outside of NOT and SUBQUERY a chain stands in the order that clients bring it into.
    func text(_ condition: Condition, isNested: Bool = false) -> String {
        switch condition {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .all(let parts):
            let operands = (isNested ? parts : ConditionOrder.flattened(parts, of: .all)).filter { !isVoid($0) }
            guard !operands.isEmpty else { return "TRUEPREDICATE" }
            return operands.map { text($0, isNested: isNested) }.joined(separator: " and ")
        case .any(let parts):
            let operands = (isNested ? parts : ConditionOrder.flattened(parts, of: .any)).filter { !isVoid($0) }
            let texts = operands.map { text($0, isNested: isNested) }
            guard let first = texts.first else { return "TRUEPREDICATE" }
            guard texts.count > 1 else { return first }
            guard isNested else { return "(\(texts.joined(separator: " or ")))" }
            let opening = String(repeating: "(", count: texts.count - 1)
            return opening + first + texts.dropFirst().map { " or \($0))" }.joined()
        case .not(let part): return isVoid(part) ? "TRUEPREDICATE" : "!(\(text(part, isNested: true)))"
        case .comparison(let comparison): return isVoid(condition) ? "TRUEPREDICATE" : text(comparison)
        case .member(let membership): return isVoid(condition) ? "TRUEPREDICATE" : text(membership)
        case .bounds(let low, let high): return "\(text(low)) and \(text(high))"
        case .between(let path, let low, let high):
            let values = [low, high].map { text($0, isShort: false) }.joined(separator: ", ")
            return "\(text(path)) between {\(values)}"
        case .fullText(let path, _, let text): return "\(self.text(path)) FULLTEXT \(value(.string(text), .full))"
        case .geoWithin(let path, _, let region):
            return "\(text(path)) GEOWITHIN \(CanonicalValue.region(region, isExact: isExact))"
        }
    }

    /// What clients leave out, even under a NOT: bounds that every integer keeps, and lists of which no element has the property's type, unless
    /// that type has a form of its own for them.
    private func isVoid(_ condition: Condition) -> Bool {
        guard !isExact else { return false }
        switch condition {
        case .comparison(let comparison):
            guard comparison.isDirect, case .path(let path) = comparison.left, path.ownProperty?.type == .int,
                case .int(let value)? = comparison.right.singleConstant?.value
            else { return false }
            return comparison.op == .greaterOrEqual && value == .min
                || comparison.op == .lessOrEqual && value == .max
        case .member(let membership): return membership.members.count == 0 && !membership.path.type.hasMemberList
        case .not(let part): return isVoid(part)
        case .all(let parts), .any(let parts): return !parts.isEmpty && parts.allSatisfy { isVoid($0) }
        case .constant, .bounds, .between, .fullText, .geoWithin: return false
        }
    }

    private func text(_ comparison: Comparison) -> String {
        if collector == nil, let text = integerBound(comparison) ?? links(comparison) { return text }
        let isMember = comparison.op == .member && collector == nil
        let op = (isMember ? "==" : comparison.op.rawValue) + Self.flags(comparison)
        let left = text(comparison.left)
        var right = text(comparison.right)
        if comparison.isDirect, comparison.left.type == .mixed, let only = comparison.right.singleConstant {
            right = only.isNull && collector == nil ? "null" : text(only, isShort: true)
        }
        return "\(left) \(op) \(right)"
    }

    private static func flags(_ comparison: Comparison) -> String {
        guard !comparison.isExact else { return "" }
        return "[\(comparison.ignoresCase ? "c" : "")\(comparison.ignoresMarks ? "d" : "")]"
    }

    /// `i >= 5` on integers of the class itself is `i > 4`.
    private func integerBound(_ comparison: Comparison) -> String? {
        guard comparison.isDirect, case .path(let path) = comparison.left, path.ownProperty?.type == .int,
            case .int(let value)? = comparison.right.singleConstant?.value
        else { return nil }
        switch comparison.op {
        case .greaterOrEqual where value > .min: return "\(text(path)) > \(value - 1)"
        case .lessOrEqual where value < .max: return "\(text(path)) < \(value + 1)"
        default: return nil
        }
    }

    /// A link of the class itself beside constants.
    private func links(_ comparison: Comparison) -> String? {
        guard comparison.op == .equal || comparison.op == .notEqual, case .path(var path) = comparison.left,
            path.suffix == .none, path.hops.count == 1, case .objects = path.end, path.quantifier ?? .any == .any
        else { return nil }
        let elements: [Constant]
        switch comparison.right {
        case .constant(let constant): elements = [constant]
        case .list(let list): elements = list.elements
        case .path, .aggregate, .subquery, .operation: return nil
        }
        path.quantifier = nil
        let texts = elements.map { text($0, isShort: true) }
        let values = texts.count == 1 ? texts[0] : "{\(texts.joined(separator: ","))}"
        return "\(text(path)) \(comparison.op.rawValue) \(values)"
    }

    private func text(_ membership: Membership) -> String {
        let path = text(membership.path)
        if let collector { return "\(path) IN {\(collector.mark(.list(membership.values)))}" }
        guard membership.members.count > 0 else {
            return membership.path.type == .int && !isExact ? "\(path) == -1" : "FALSEPREDICATE"
        }
        guard !membership.path.type.hasMemberList else {
            var seen: Set<Value> = []
            let values = membership.values.filter { seen.insert($0).inserted }
            return "\(path) IN {\(values.map { CanonicalValue.text($0, digits: .full) }.joined(separator: ", "))}"
        }
        let isFloat = membership.path.type == .float || membership.path.type == .double
        let texts = membership.values.map { value in
            let text = value == .null && isFloat && !isExact ? "nan" : CanonicalValue.text(value, digits: .full)
            return "\(path) == \(text)"
        }
        return texts.count == 1 ? texts[0] : "(\(texts.joined(separator: " or ")))"
    }

    // MARK: Sides

    private func text(_ side: Side) -> String {
        switch side {
        // What arithmetic made of constants is a mixed value.
        case .constant(let constant): return text(constant, isShort: constant.type == .mixed)
        case .list(let list):
            let isMarked = collector != nil && list.type != .typeName
            let values =
                isMarked
                ? value(.list(list.elements.map(\.comparable)), .full)
                : list.elements.map { text($0, isShort: true) }.joined(separator: ", ")
            return "\(list.quantifier.map { "\($0.rawValue) " } ?? ""){\(values)}"
        case .path(let path): return text(path)
        case .aggregate(let path, let function, let field):
            let suffix = field.map { ".\(name($0.name))" } ?? ""
            return "\(aggregated(path, field)).\(function.rawValue)\(suffix)"
        case .subquery(let subquery): return text(subquery)
        case .operation(let op, let left, let right, _):
            return "(\(text(left)) \(op.rawValue) \(text(right)))"
        }
    }

    private func aggregated(_ path: QueryPath, _ field: QueryProperty?) -> String {
        guard field == nil, case .property(let property, _) = path.end, property.collection == .dictionary else {
            return text(path)
        }
        // A dictionary before an aggregate goes without [*].
        var text = self.text(path)
        if text.hasSuffix("[*]") { text.removeLast(3) }
        return text
    }

    private func text(_ subquery: Subquery) -> String {
        var inner = self
        let target = subquery.path.hops.last?.target ?? ""
        inner.variables.append(variable(for: target))
        let condition = inner.text(subquery.condition, isNested: true)
        return "SUBQUERY(\(text(subquery.path)), \(inner.variables[inner.variables.count - 1]), \(condition)).@count"
    }

    /// `$x`, `$y`, `$z`, `$a` ...: the first that is neither taken nor a property's name.
    private func variable(for target: ByteString) -> String {
        var prefix = "$"
        while true {
            for letter in "xyzabcdefghijklmnopqrstuvw" {
                let guess = "\(prefix)\(letter)"
                if !variables.contains(guess), schema?[target]?[ByteString(guess)] == nil { return guess }
            }
            prefix += "x"
        }
    }

    private func text(_ constant: Constant, isShort: Bool) -> String {
        switch constant.content {
        case .types(let types): "\"\(types.name)\""
        case .value(let value): self.value(value, isShort ? isExact ? .exact : .short : .full)
        }
    }

    private func value(_ value: Value, _ digits: CanonicalValue.Digits) -> String {
        collector?.mark(value) ?? CanonicalValue.text(value, digits: digits)
    }

    // MARK: Paths

    func text(_ path: QueryPath, withQuantifier: Bool = true) -> String {
        var parts: [String] = variables.last.map { [$0] } ?? []
        for hop in path.hops { parts.append(text(hop)) }
        switch path.end {
        case .objects: break
        case .property(let property, let indexes):
            let all = property.collection == .dictionary && indexes.isEmpty ? "[*]" : ""
            parts.append(name(property.name) + all + indexes.map(Self.index).joined())
        case .keys(let property): parts += [name(property.name), "@keys"]
        case .elementLengths(let property): parts += [name(property.name), "length"]
        case .backlinkCount: parts += ["@links", "@count"]
        }
        switch path.suffix {
        case .none: break
        case .type: parts.append("@type")
        case .count: if case .objects = path.end { parts.append("@count") } else { parts.append("@size") }
        }
        let quantifier = withQuantifier && path.suffix != .count ? path.quantifier.map { "\($0.rawValue) " } ?? "" : ""
        return quantifier + parts.joined(separator: ".")
    }

    private func text(_ hop: QueryPath.Hop) -> String {
        switch hop.kind {
        case .link(let property):
            name(property.name) + (hop.selection == .all ? "" : Self.index(hop.selection))
        case .backlink(let className, let property): "@links.\(className).\(name(property.name))"
        }
    }

    static func index(_ index: PathIndex) -> String {
        switch index {
        case .all: "[*]"
        case .last: "[LAST]"
        case .index(0): "[FIRST]"
        case .index(let number): "[\(number)]"
        case .key(let key): "[\(CanonicalValue.key(key.bytes))]"
        }
    }

    /// A property's name, as clients write it; in an exact text so that it is read as a name, whatever else the word means.
    private func name(_ name: ByteString) -> String {
        isExact && collector == nil ? QueryNames.text(name) ?? Self.name(name) : Self.name(name)
    }

    /// Blanks in names are written with a backslash.
    static func name(_ name: ByteString) -> String {
        var text: [UInt8] = []
        for byte in name.bytes {
            switch byte {
            case 0x20: text += Array("\\ ".utf8)
            case 0x09: text += Array("\\t".utf8)
            case 0x0A: text += Array("\\n".utf8)
            case 0x0D: text += Array("\\r".utf8)
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension QueryType {
    /// Memberships of properties of the type are written as lists, and not as single comparisons.
    fileprivate var hasMemberList: Bool {
        switch self {
        case .int, .string, .objectID, .uuid: true
        default: false
        }
    }
}
