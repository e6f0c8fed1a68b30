import Changesets
package import RealmState

/// What every object that a condition selects holds in a property of its own: what an index can find.
package struct Restriction: Sendable, Hashable {
    package var slot: PropertySlot
    package var selection: ValueSelection
}

extension ObjectQuery {
    /// The restrictions of the condition, all of which its objects meet. Objects that meet them need not be selected.
    package var restrictions: [Restriction] {
        var result: [Restriction] = []
        for found in condition.restrictions {
            // Two bounds of one property make one range.
            if let index = result.firstIndex(where: { $0.slot == found.slot }),
                let both = result[index].selection.intersection(found.selection)
            {
                result[index].selection = both
            } else {
                result.append(found)
            }
        }
        return result
    }
}

extension Condition {
    fileprivate var restrictions: [Restriction] {
        switch self {
        case .all(let parts): return parts.flatMap(\.restrictions)
        case .comparison(let comparison): return comparison.restriction.map { [$0] } ?? []
        case .bounds(let low, let high): return [low, high].compactMap(\.restriction)
        case .member(let membership):
            guard let property = membership.path.restrictable,
                membership.values.allSatisfy({ $0 == .null || QueryType($0) == property.type })
            else { return [] }
            return [Restriction(slot: property.slot, selection: .among(membership.values))]
        case .between(let path, let low, let high):
            guard let property = path.restrictable, let low = property.bound(low), let high = property.bound(high)
            else {
                return []
            }
            return [Restriction(slot: property.slot, selection: .between(low, high))]
        case .constant, .any, .not, .fullText, .geoWithin: return []
        }
    }
}

extension Comparison {
    fileprivate var restriction: Restriction? {
        guard isDirect, !ignoresCase, case .path(let path) = left, let property = path.restrictable,
            let constant = right.singleConstant, let value = constant.value
        else { return nil }
        let selection: ValueSelection
        switch op {
        case .equal, .member:
            guard value == .null || QueryType(value) == property.type else { return nil }
            selection = .among([value])
        case .less, .lessOrEqual:
            guard let bound = property.bound(constant) else { return nil }
            selection = .between(nil, bound)
        case .greater, .greaterOrEqual:
            guard let bound = property.bound(constant) else { return nil }
            selection = .between(bound, nil)
        case .notEqual, .beginsWith, .endsWith, .contains, .like: return nil
        }
        return Restriction(slot: property.slot, selection: selection)
    }
}

extension QueryPath {
    /// A single property of the class itself, of a type whose values are equal only if they are the same.
    fileprivate var restrictable: QueryProperty? {
        guard let property = ownProperty, !property.isCollection else { return nil }
        switch property.type {
        case .int, .bool, .string, .timestamp, .objectID, .uuid: return property
        default: return nil
        }
    }
}

extension QueryProperty {
    /// A constant as the bound of a range; nil if the order of values is not that of the index.
    fileprivate func bound(_ constant: Constant) -> Value? {
        guard let value = constant.value, type == .int || type == .timestamp, QueryType(value) == type else {
            return nil
        }
        return value
    }
}

extension ValueSelection {
    /// Nil if the two are not ranges.
    fileprivate func intersection(_ other: ValueSelection) -> ValueSelection? {
        guard case .between(let low, let high) = self, case .between(let otherLow, let otherHigh) = other else {
            return nil
        }
        func outermost(_ one: Value?, _ two: Value?, _ isBetter: (Int) -> Bool) -> Value? {
            guard let one, let two, let order = ValueOrder.compare(one, two) else { return one ?? two }
            return isBetter(order) ? one : two
        }
        return .between(outermost(low, otherLow) { $0 > 0 }, outermost(high, otherHigh) { $0 < 0 })
    }
}
