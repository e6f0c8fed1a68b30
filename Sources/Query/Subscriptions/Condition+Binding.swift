package import Changesets

extension Condition {
    /// Whether whatever the condition selects has one of some values that it gives for a property of the class itself, by == or IN. What selects
    /// nothing binds every property.
    package func binds(_ property: ByteString) -> Bool {
        switch self {
        case .constant(let value): !value
        case .all(let parts): parts.contains { $0.binds(property) }
        case .any(let parts): parts.allSatisfy { $0.binds(property) }
        case .member(let membership): membership.path.ownProperty?.name == property || membership.members.count == 0
        case .comparison(let comparison): comparison.binds(property)
        case .not, .bounds, .between, .fullText, .geoWithin: false
        }
    }
}

extension Comparison {
    fileprivate func binds(_ property: ByteString) -> Bool {
        guard op == .equal || op == .member, isExact, left.quantifier != Quantifier.none,
            right.quantifier != Quantifier.none
        else { return false }
        return left.isProperty(property) && right.isConstant || left.isConstant && right.isProperty(property)
    }
}

extension Side {
    fileprivate func isProperty(_ name: ByteString) -> Bool {
        if case .path(let path) = self, let own = path.ownProperty {
            own.name == name && !own.isCollection
        } else {
            false
        }
    }
}
