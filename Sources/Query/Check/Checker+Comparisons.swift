import Changesets
import RealmState

extension Checker {
    mutating func check(_ syntax: ConditionSyntax.Comparison) throws(QueryError) -> Condition {
        if syntax.ignoresMarks, dialect == .language {
            throw .syntax("[d] is no part of the query language: use [c], or compare without it", at: syntax.offset)
        }
        let (left, right) = try sides(syntax)
        try checkTypes(left, right, syntax)
        let hasFlags = syntax.ignoresCase || syntax.ignoresMarks
        if hasFlags, dialect == .predicate, let alternatives = try alternatives(left, right, syntax) {
            return alternatives
        }
        if syntax.op == .member || syntax.op == .equal, let membership = membership(left, right) { return membership }
        return try comparison(left, right, syntax)
    }

    private func comparison(
        _ left: Side, _ right: Side, _ syntax: ConditionSyntax.Comparison
    ) throws(QueryError) -> Condition {
        let hasFlags = syntax.ignoresCase || syntax.ignoresMarks
        let isDirect = Comparison.isDirect(left, right, syntax.op)
        var comparison = Comparison(
            op: syntax.op, ignoresCase: syntax.ignoresCase, left: left, right: right,
            isDirect: isDirect && !syntax.ignoresMarks, ignoresMarks: syntax.ignoresMarks)
        if hasFlags, !syntax.op.isString {
            if isDirect {
                // A direct comparison of other types does not look at the flags.
                let isText = left.type == .string || left.type == .binary || left.type == .mixed
                if !isText || right.singleConstant?.isNull == true {
                    (comparison.ignoresCase, comparison.ignoresMarks) = (false, false)
                    comparison.isDirect = true
                }
            } else {
                try checkText(right, "\(syntax.op.rawValue)[c]", syntax.offset)
            }
        }
        return dialect == .predicate ? PredicateRules.withoutEmptyText(comparison) : .comparison(comparison)
    }

    /// `name IN[c] {"a", "b"}` is `name ==[c] "a" or name ==[c] "b"`: a set of values, which it would be otherwise, knows nothing of flags.
    private func alternatives(
        _ left: Side, _ right: Side, _ syntax: ConditionSyntax.Comparison
    ) throws(QueryError) -> Condition? {
        guard case .list(let list) = right, list.quantifier ?? .any == .any,
            syntax.op == .member || syntax.op == .equal && membership(left, right) != nil,
            left.quantifier == .any || left.quantifier == nil && !left.hasSeveralValues
        else { return nil }
        var one = syntax
        one.op = .equal
        let parts = try list.elements.map { element throws(QueryError) in
            try comparison(left, .constant(element), one)
        }
        return parts.isEmpty ? .constant(false) : .any(parts)
    }

    private mutating func sides(_ syntax: ConditionSyntax.Comparison) throws(QueryError) -> (Side, Side) {
        guard !syntax.left.isConstant || !syntax.right.isConstant else {
            throw .query("expected a property on one side at least, found two constants", at: syntax.offset)
        }
        let (left, right) = try sides(syntax.left, syntax.right)
        if syntax.right.isConstant {
            try checkShapes(left, right, syntax.offset)
        } else {
            try checkShapes(right, left, syntax.offset)
        }
        return (try withLinks(left, beside: right, syntax.offset), try withLinks(right, beside: left, syntax.offset))
    }

    private func checkShapes(_ left: Side, _ right: Side, _ offset: Int) throws(QueryError) {
        if case .path(let first) = left, case .path(let second) = right, first.scalarCollection != nil,
            second.scalarCollection != nil
        {
            throw .query(
                "two collections cannot be compared: \(first.description) and \(second.description)", at: offset)
        }
        if case .constant = left, right.isConstant, left.type == .typeName, right.type == .typeName {
            throw .query(
                "expected a property that can be of several types before @type, found two constants", at: offset)
        }
        if case .path(let path) = left, path.suffix == .none, case .objects = path.end, path.isMulti,
            right.singleConstant?.isNull == true
        {
            throw .query("\(path.description) cannot be compared with null", at: offset)
        }
    }

    /// Constants beside links have to be objects of the class that the link points to.
    private func withLinks(_ side: Side, beside other: Side, _ offset: Int) throws(QueryError) -> Side {
        guard case .path(let path) = other, path.suffix == .none, case .objects = path.end,
            let target = path.hops.last?.target
        else { return side }
        switch side {
        case .constant(let constant):
            try checkLink(constant, path, target, offset)
            return side
        case .list(let list):
            for element in list.elements { try checkLink(element, path, target, offset) }
            return .list(ConstantList(elements: list.elements, quantifier: list.quantifier, type: .link))
        case .path, .aggregate, .subquery, .operation: return side
        }
    }

    private func checkLink(
        _ constant: Constant, _ path: QueryPath, _ target: ByteString, _ offset: Int
    ) throws(QueryError) {
        switch constant.value {
        case .null: break
        case .link(let address):
            guard address.className == target else {
                throw .argument(
                    "\(path.description) cannot be compared with an object of \"\(address.className)\"", at: offset)
            }
        default:
            throw .query("\(path.description) cannot be compared with \(constant.type.rawValue)", at: offset)
        }
    }

    private func checkTypes(
        _ left: Side, _ right: Side, _ syntax: ConditionSyntax.Comparison
    ) throws(QueryError) {
        let offset = syntax.offset
        if syntax.op.isOrder || syntax.op.isString, left.hasCollectionConstant || right.hasCollectionConstant {
            throw .argument("lists and dictionaries as wholes are compared by == and != only", at: offset)
        }
        if syntax.op.isString { return try checkText(right, syntax.op.rawValue, offset) }
        if syntax.op.isOrder, [left.type, right.type].contains(where: { $0 == .link || $0 == .typeName }) {
            throw .query("\(syntax.op.rawValue) does not go with \(left.type.rawValue): expected == or !=", at: offset)
        }
        guard left.type.isComparable(with: right.type) else {
            throw .query("\(left.description) cannot be compared with \(right.description)", at: offset)
        }
        if left.type == .typeName || right.type == .typeName, left.type != right.type {
            throw .argument(
                "@type is compared with the name of a type, found \(left.description) and \(right.description)",
                at: offset)
        }
        if syntax.op == .member, !right.hasSeveralValues {
            throw .argument("expected a list or collection after IN, found \(right.description)", at: offset)
        }
    }

    private func checkText(_ right: Side, _ name: String, _ offset: Int) throws(QueryError) {
        guard [.string, .binary, .mixed].contains(right.type) else {
            throw .query("expected a string or binary to the right of \(name), found \(right.description)", at: offset)
        }
    }

    /// A list beside a property of the class itself is a set of values of the property's own type, which is empty if none of them is.
    private func membership(_ left: Side, _ right: Side) -> Condition? {
        guard case .list(let list) = right, !list.elements.isEmpty, list.quantifier ?? .any == .any,
            list.type == .mixed,
            case .path(let path) = left, let property = path.ownProperty, !property.isCollection,
            property.type != .mixed
        else { return nil }
        let values = list.elements.compactMap { element -> Value? in
            guard let value = element.value else { return nil }
            // Clients keep null for these types, whether or not the property may be null.
            let keepsNull = [.string, .objectID, .uuid].contains(property.type)
            if value == .null { return property.isNullable || keepsNull ? value : nil }
            return QueryType(value) == property.type ? value : nil
        }
        return .member(Membership(path: path, values: values))
    }
}

extension Checker {
    mutating func between(
        _ left: ExpressionSyntax, _ list: ListSyntax, _ offset: Int
    ) throws(QueryError) -> Condition {
        let list = try elements(of: list)
        guard list.elements.count == 2 else {
            throw .query("expected a list of 2 elements after BETWEEN, found \(list.elements.count)", at: list.offset)
        }
        let subject = try side(left, hint: .int)
        if case .path(let path) = subject {
            if path.scalarCollection != nil, path.quantifier != .all, dialect == .language {
                throw .query("expected ALL before a collection with BETWEEN", at: offset)
            }
            switch path.end {
            case .elementLengths, .backlinkCount:
                throw .query("\(path.description) cannot stand before BETWEEN", at: offset)
            default: break
            }
        }
        if case .path(let path) = subject, let property = path.ownProperty, !property.isCollection,
            property.type == .int || property.type == .timestamp,
            case .constant(let low) = try constants.side(list.elements[0], property.type),
            case .constant(let high) = try constants.side(list.elements[1], property.type),
            low.type == property.type, high.type == property.type
        {
            return .between(path, low, high)
        }
        let low = ConditionSyntax.Comparison(
            op: .greaterOrEqual, ignoresCase: false, left: left, right: .constant(list.elements[0]), offset: offset)
        let high = ConditionSyntax.Comparison(
            op: .lessOrEqual, ignoresCase: false, left: left, right: .constant(list.elements[1]), offset: offset)
        guard case .comparison(let least) = try check(low), case .comparison(let greatest) = try check(high) else {
            return .constant(false)
        }
        if dialect == .predicate, case .path(let path) = subject,
            let inner = PredicateRules.bounds(least, greatest, onOneObjectOf: path)
        {
            return inner
        }
        return .bounds(least, greatest)
    }

    /// The bounds that an argument of two values is.
    private func elements(of list: ListSyntax) throws(QueryError) -> ListSyntax {
        guard let number = list.argument else { return list }
        guard dialect == .predicate else { throw .syntax("expected a list { } after BETWEEN", at: list.offset) }
        guard case .list(let values) = try arguments.argument(number, list.offset) else {
            throw .argument("expected a list of 2 values after BETWEEN, found one value", at: list.offset)
        }
        var list = list
        list.elements = values.indices.map {
            LocatedConstant(constant: .element(of: number, at: $0), offset: list.offset)
        }
        return list
    }

    mutating func fullText(
        _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ offset: Int
    ) throws(QueryError) -> Condition {
        guard case .path(let path) = try side(left, hint: .int), case .property(let property, _) = path.end,
            path.suffix == .none, property.isFullText
        else { throw .query("expected a property with a full-text index before TEXT", at: offset) }
        guard case .constant(let constant) = try side(right, hint: .string), case .string(let text) = constant.value
        else {
            throw .query("expected a string after TEXT", at: offset)
        }
        return .fullText(path, try FullTextPattern(text, at: offset), text: text)
    }

    func geoWithin(_ syntax: PathSyntax, _ region: GeoSyntax, _ offset: Int) throws(QueryError) -> Condition {
        let path = try resolve(syntax)
        guard case .objects = path.end, path.suffix == .none, let target = path.hops.last?.target,
            let type = schema[target]
        else {
            throw .query(
                "expected an embedded object with type and coordinates before GEOWITHIN, found \(path.description)",
                at: offset)
        }
        let region = try RegionReader(arguments: arguments, limits: limits).region(region, offset)
        if let flaw = region.flaw { throw .query("expected a region with \(flaw)", at: offset) }
        guard let properties = GeoProperties(type) else {
            throw .query(
                "expected \"\(target)\" to be an embedded class with type: string and coordinates: list of double",
                at: offset)
        }
        return .geoWithin(path, properties, region)
    }
}

extension Side {
    /// The one constant that the side is; also that of a list with one element.
    var singleConstant: Constant? {
        switch self {
        case .constant(let constant): constant
        case .list(let list): list.elements.count == 1 ? list.elements[0] : nil
        case .path, .aggregate, .subquery, .operation: nil
        }
    }

    /// Whether the side is a list or dictionary as a whole, or has one among its values.
    var hasCollectionConstant: Bool {
        switch self {
        case .constant(let constant): constant.isCollection
        case .list(let list): list.elements.contains(where: \.isCollection)
        case .path, .aggregate, .subquery, .operation: false
        }
    }

    /// Whether the side can have more than one value, as IN wants it.
    var hasSeveralValues: Bool {
        switch self {
        case .list: return true
        case .constant, .aggregate, .subquery: return false
        case .operation(_, let left, let right, _): return left.hasSeveralValues || right.hasSeveralValues
        case .path(let path):
            switch path.end {
            case .keys, .backlinkCount: return false
            case .elementLengths, .objects: return path.isMulti || path.end != .objects
            case .property(let property, let indexes):
                if path.isMulti { return true }
                if property.collection == .dictionary, !indexes.isEmpty { return indexes.contains(.all) }
                return property.isCollection
            }
        }
    }

    /// The side for people.
    var description: String {
        switch self {
        case .path(let path): path.description
        case .constant(let constant): constant.isNull ? "null" : "a constant of type \(constant.type.rawValue)"
        case .list: "a list"
        case .aggregate, .subquery, .operation: "a value of type \(type.rawValue)"
        }
    }
}
