import RealmState

extension Condition {
    /// One form for conditions that say the same in other words: chains flat, in order and without repetitions, constants worked out,
    /// equalities of one property gathered. Selects the same objects.
    func normalized() -> Condition {
        switch self {
        case .all(let parts): return Self.chain(parts, isAll: true)
        case .any(let parts): return Self.chain(parts, isAll: false)
        case .not(let part):
            switch part.normalized() {
            case .constant(let value): return .constant(!value)
            case .not(let inner): return inner
            case let inner: return .not(inner)
            }
        case .comparison(let comparison):
            guard let membership = comparison.membership else { return self }
            return .member(membership)
        case .member(let membership):
            return membership.members.count == 0 ? .constant(false) : .member(membership.sorted)
        case .constant, .bounds, .between, .fullText, .geoWithin: return self
        }
    }

    private static func chain(_ parts: [Condition], isAll: Bool) -> Condition {
        var flat: [Condition] = []
        for part in parts {
            switch part.normalized() {
            case .constant(let value):
                // What decides the chain is the chain; what does not, goes.
                if value != isAll { return .constant(value) }
            case .all(let inner) where isAll: flat += inner
            case .any(let inner) where !isAll: flat += inner
            case let other: flat.append(other)
            }
        }
        if !isAll { flat = gathered(flat) }
        let sorted = flat.map { (shape: ConditionShape($0), condition: $0) }.sorted { $0.shape < $1.shape }
        var seen: Set<Condition> = []
        let result = sorted.map(\.condition).filter { seen.insert($0).inserted }
        if result.count == 1 { return result[0] }
        return result.isEmpty ? .constant(isAll) : isAll ? .all(result) : .any(result)
    }

    /// `a == 1 or a == 2` is `a IN {1, 2}`.
    private static func gathered(_ parts: [Condition]) -> [Condition] {
        var members: [QueryPath: [Value]] = [:]
        var rest: [Condition] = []
        for part in parts {
            if case .member(let membership) = part, membership.isExact {
                members[membership.path, default: []] += membership.values
            } else {
                rest.append(part)
            }
        }
        return rest + members.map { .member(Membership(path: $0.key, values: $0.value).sorted) }
    }
}

extension Membership {
    /// Whether the members equal just the values with the same bytes: not so for binary and decimal numbers.
    var isExact: Bool {
        switch path.type {
        case .int, .bool, .string, .binary, .timestamp, .objectID, .uuid: true
        default: false
        }
    }

    var sorted: Membership {
        guard isExact else { return self }
        var seen: Set<Value> = []
        let unique = values.filter { seen.insert($0).inserted }
        return Membership(path: path, values: unique.sorted { ValueOrder.total($0, $1) < 0 })
    }
}

extension Comparison {
    /// An equality of a property of the class itself, as a membership.
    fileprivate var membership: Membership? {
        guard op == .equal || op == .member, isExact, case .path(let path) = left, let property = path.ownProperty,
            !property.isCollection, case .constant(let constant) = right, let value = constant.value,
            constant.type == property.type || value == .null
        else { return nil }
        let membership = Membership(path: path, values: [value])
        return membership.isExact ? membership : nil
    }
}
