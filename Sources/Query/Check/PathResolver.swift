import Changesets
import RealmState

/// A step of a path whose arguments have been filled in.
private struct PathStep {
    enum Kind {
        case key(ByteString)
        case index(PathIndex)
        case backlink(className: ByteString, property: ByteString)
        case allBacklinks
    }
    var kind: Kind
    var offset: Int
}

/// Finds what a path means in the schema, step by step.
struct PathResolver {
    /// The subqueries around: variables, and the classes of the objects that they stand for.
    typealias Variables = [(name: ByteString, className: ByteString)]

    private let syntax: PathSyntax
    private let schema: QuerySchema
    private let arguments: QueryArguments
    private let limits: QueryLimits
    private let variables: Variables
    /// The path as far as it has been followed, and the class at which that has come.
    private var path: QueryPath
    private var type: QueryClass

    init(
        _ syntax: PathSyntax, from type: QueryClass, within variables: Variables, _ schema: QuerySchema,
        _ arguments: QueryArguments, _ limits: QueryLimits
    ) {
        self.syntax = syntax
        self.type = type
        self.variables = variables
        self.schema = schema
        self.arguments = arguments
        self.limits = limits
        path = QueryPath(
            hops: [], end: .objects, quantifier: syntax.quantifier, place: TextPlace(offset: syntax.offset))
    }

    mutating func resolve() throws(QueryError) -> QueryPath {
        let steps = try steps()
        var position = 0
        while position < steps.count, try follow(steps[position]) { position += 1 }
        if position < steps.count, case .allBacklinks = steps[position].kind {
            guard position == steps.count - 1 else {
                throw .query("expected a class and property after @links", at: steps[position].offset)
            }
            path.end = .backlinkCount
            return path
        }
        if position == steps.count {
            try endAtObjects()
        } else {
            path.end = try end(steps[position...])
        }
        try addSuffix()
        return path
    }

    private func steps() throws(QueryError) -> [PathStep] {
        var steps: [PathStep] = []
        for element in syntax.elements {
            let offset = element.offset
            switch element.element {
            case .key(let name): steps.append(PathStep(kind: .key(name), offset: offset))
            case .index(let index): steps.append(PathStep(kind: .index(.index(index)), offset: offset))
            case .last: steps.append(PathStep(kind: .index(.last), offset: offset))
            case .all: steps.append(PathStep(kind: .index(.all), offset: offset))
            case .argument(let number):
                switch try arguments.argument(number, offset) {
                case .value(.int(let index)): steps.append(PathStep(kind: .index(.index(index)), offset: offset))
                case .value(.string(let key)): steps.append(PathStep(kind: .key(key), offset: offset))
                default:
                    throw .query("expected an integer or string for the index $\(number)", at: offset)
                }
            case .path(let number):
                guard syntax.elements.count == 1 else {
                    throw .query("expected $K\(number) to be the whole path", at: offset)
                }
                guard case .value(.string(let text)) = try arguments.argument(number, offset) else {
                    throw .argument("expected a string for the path $K\(number)", at: offset)
                }
                let names = text.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                guard names.count <= limits.pathElements else {
                    throw .limit("expected a path of at most \(limits.pathElements) elements", at: offset)
                }
                steps += names.map { PathStep(kind: .key(ByteString(Array($0))), offset: offset) }
            }
        }
        return try joiningBacklinks(steps)
    }

    /// `@links`, class and property are one step.
    private func joiningBacklinks(_ steps: [PathStep]) throws(QueryError) -> [PathStep] {
        var result: [PathStep] = []
        var position = 0
        while position < steps.count {
            let step = steps[position]
            guard case .key("@links") = step.kind else {
                result.append(step)
                position += 1
                continue
            }
            if position == steps.count - 1 {
                result.append(PathStep(kind: .allBacklinks, offset: step.offset))
                break
            }
            guard position + 2 < steps.count, case .key(let className) = steps[position + 1].kind,
                case .key(let property) = steps[position + 2].kind
            else { throw .query("expected a class and property after @links", at: step.offset) }
            result.append(
                PathStep(kind: .backlink(className: className, property: property), offset: step.offset))
            position += 3
        }
        return result
    }

    /// Takes a step that leads to other objects, or chooses among them; false if it does neither.
    private mutating func follow(_ step: PathStep) throws(QueryError) -> Bool {
        switch step.kind {
        case .allBacklinks: return false
        case .backlink(let className, let name):
            return try followLinks(schema[className]?[name], className, name, step)
        case .index(let index):
            guard case .link(let property)? = path.hops.last?.kind, path.hops.last?.selection == .all else {
                return false
            }
            if index == .all { return property.isCollection }
            guard property.collection == .list else { return false }
            path.hops[path.hops.count - 1].selection = index
            return true
        case .key(let name):
            if variables.contains(where: { $0.name == name && $0.className == type.name }) { return true }
            if let (className, name) = type.backlinks(named: name) {
                return try followLinks(schema[className]?.properties[name], className, name, step)
            }
            var last: QueryProperty?
            if case .link(let property)? = path.hops.last?.kind { last = property }
            if name == "@values", last?.collection == .dictionary { return true }
            if let property = type[name] {
                guard property.type == .link, let target = property.target, let next = schema[target] else {
                    return false
                }
                path.hops.append(.init(kind: .link(property), target: target, isEmbedded: next.isEmbedded))
                type = next
                return true
            }
            guard last?.collection == .dictionary, path.hops.last?.selection == .all else { return false }
            path.hops[path.hops.count - 1].selection = .key(name)
            return true
        }
    }

    /// Goes on at the objects that link here by a property.
    private mutating func followLinks(
        _ property: QueryProperty?, _ className: ByteString, _ name: ByteString, _ step: PathStep
    ) throws(QueryError) -> Bool {
        guard let origin = schema[className], let property, property.type == .link, property.target == type.name else {
            throw .query(
                "\"\(className)\" has no property \"\(name)\" that links to \"\(type.name)\"", at: step.offset)
        }
        path.hops.append(
            .init(kind: .backlink(className: className, property), target: className, isEmbedded: origin.isEmbedded))
        type = origin
        return true
    }

    /// A path that ends on a link.
    private mutating func endAtObjects() throws(QueryError) {
        guard let last = path.hops.last else {
            throw .query("expected a property, found a variable alone", at: syntax.offset)
        }
        guard case .link(let property) = last.kind, last.selection != .all else { return }
        // What is chosen from a dictionary is a value like that of any dictionary.
        guard property.collection == .dictionary, case .key(let key) = last.selection else {
            throw .query("the list of links \"\(property.name)\" takes no index at the end", at: syntax.offset)
        }
        path.hops.removeLast()
        path.end = key == "@keys" ? .keys(property) : .property(property, [last.selection])
    }

    private func end(_ rest: ArraySlice<PathStep>) throws(QueryError) -> QueryPath.End {
        guard let step = rest.first, case .key(let name) = step.kind else {
            throw .query("an index cannot stand here", at: rest.first?.offset ?? syntax.offset)
        }
        guard let property = type[name], property.type != .link else {
            throw .unknownProperty(name, type, step.offset)
        }
        var indexes: [PathIndex] = []
        for step in rest.dropFirst() {
            switch step.kind {
            case .key(let key): indexes.append(.key(key))
            case .index(let index): indexes.append(index)
            case .backlink, .allBacklinks:
                throw .query("@links cannot follow \"\(name)\", which is no link", at: step.offset)
            }
        }
        if !property.isCollection, path.quantifier != nil, indexes.isEmpty, !path.isMulti {
            throw .argument(
                "expected a collection after \(path.quantifier?.rawValue ?? ""), found \"\(name)\", which is \(property.kindText)",
                at: syntax.offset)
        }
        return try end(property, indexes)
    }

    private func end(_ property: QueryProperty, _ indexes: [PathIndex]) throws(QueryError) -> QueryPath.End {
        guard let first = indexes.first else { return .property(property, []) }
        func refused() -> QueryError {
            let text = indexes.map(CanonicalText.index).joined()
            return .query(
                "\"\(property.name)\", which is \(property.kindText), does not take \(text)", at: syntax.offset)
        }
        switch (property.collection, first) {
        case (.dictionary, .key("@values")) where indexes.count == 1: return .property(property, [])
        case (.dictionary, .key("@keys")) where indexes.count == 1: return .keys(property)
        case (.dictionary, .key): return .property(property, indexes)
        case (.dictionary, .all): return .property(property, indexes.count == 1 ? [] : indexes)
        case (.single, _) where property.type == .mixed: return .property(property, indexes)
        case (.list, .key(let key)), (.set, .key(let key)):
            let lower = String(decoding: key.bytes.map(\.asciiLowercase), as: UTF8.self)
            guard indexes.count == 1, lower == "length", syntax.suffix == .none,
                [.string, .binary, .mixed].contains(property.type)
            else { throw refused() }
            return .elementLengths(property)
        case (.list, _):
            guard indexes.count == 1 || property.type == .mixed else { throw refused() }
            return .property(property, indexes == [.all] && property.type != .mixed ? [] : indexes)
        default: throw refused()
        }
    }

    private mutating func addSuffix() throws(QueryError) {
        switch syntax.suffix {
        case .none: return
        case .count:
            switch path.end {
            case .objects: break
            case .property(let property, _) where property.isCollection: break
            case .property(let property, _) where [.string, .binary, .mixed].contains(property.type): break
            default:
                throw .query(
                    "@count and @size go with collections, strings, binaries and mixed values, found \(path.description)",
                    at: syntax.offset)
            }
            path.suffix = .count
        case .type:
            switch path.end {
            case .objects: break
            case .property(let property, _)
            where !property.isCollection || property.type == .mixed || property.collection == .dictionary:
                break
            default:
                throw .query("@type goes with mixed values, found \(path.description)", at: syntax.offset)
            }
            path.suffix = .type
        }
    }
}
