internal import Changesets

/// The copies of objects that no realm has, by their originals: `create` leaves the objects as they are that it is given among values.
final class ObjectCopies {
    private var copies: [ObjectIdentifier: ObjectBase] = [:]
    /// Kept, so that no other object gets the identity of one of them.
    private var originals: [ObjectBase] = []

    /// - Parameters:
    ///   - original: what an object is made of.
    ///   - copy: that object.
    init(of original: Any, _ copy: ObjectBase) {
        if let original = original as? ObjectBase { note(original, copy) }
    }

    private func note(_ original: ObjectBase, _ copy: ObjectBase) {
        originals.append(original)
        copies[ObjectIdentifier(original)] = copy
    }

    /// A value with copies in the place of objects that no realm has.
    /// - Parameter depth: how many lists and dictionaries of values are around it; deeper ones than values may have are left to what stores them.
    func copied(_ any: Any?, depth: Int = 0) throws -> Any? {
        guard depth <= ChangesetLimits.maxNesting, let any = ValueConversion.unwrapped(any) else { return any }
        switch any {
        case is String, is Int, is Bool, is Double: return any
        case let object as ObjectBase: return object.handle == nil ? try copy(of: object) : object
        case let mixed as AnyRealmValue: return try copied(mixed, depth)
        case let collection as any _PropertyCollection where collection._field != nil: return any
        case let map as any RealmKeyedCollection: return try entries(of: map, depth)
        case let list as any (RealmCollection & _PropertyCollection): return try elements(of: list, depth)
        case let values as [String: Any?]: return try values.mapValues { try copied($0, depth: depth + 1) }
        case let values as [Any?]: return try values.map { try copied($0, depth: depth + 1) }
        case let values as Set<AnyHashable>: return try values.map { try copied($0.base, depth: depth + 1) }
        default: return any
        }
    }

    private func copy(of original: ObjectBase) throws -> ObjectBase {
        if let copy = copies[ObjectIdentifier(original)] { return copy }
        let copy = type(of: original).init()
        // Before what it links to is looked at: that may lead back.
        note(original, copy)
        try copy.assign(original, self)
        return copy
    }

    private func elements<List: RealmCollection & _PropertyCollection>(of list: List, _ depth: Int) throws -> Any {
        let shape = List._shape
        // A collection that cannot hold objects may stay what it is.
        guard shape.target != nil || shape.type == .any else { return list }
        let elements = try list.map { try copied($0, depth: depth + 1) }
        return shape.collection == .set ? Set(elements.compactMap { $0 as? AnyHashable }) : elements
    }

    private func entries<Map: RealmKeyedCollection>(of map: Map, _ depth: Int) throws -> [String: Any?] {
        var entries: [String: Any?] = [:]
        for key in map.keys { entries[key._text] = try copied(map[key], depth: depth + 1) as Any? }
        return entries
    }

    private func copied(_ mixed: AnyRealmValue, _ depth: Int) throws -> AnyRealmValue {
        func nested(_ value: AnyRealmValue) throws -> AnyRealmValue {
            depth < ChangesetLimits.maxNesting ? try copied(value, depth + 1) : value
        }
        return switch mixed {
        case .object(let object) where object.handle == nil:
            try (copy(of: object) as? Object).map { .object($0) } ?? mixed
        case .list(let list) where list._field == nil: .fromArray(try list.map(nested))
        case .dictionary(let map) where map._field == nil: .fromDictionary(try map.contents.mapValues(nested))
        default: mixed
        }
    }
}
