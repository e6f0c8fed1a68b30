internal import Changesets
internal import Foundation
internal import Query
internal import RealmState

/// The objects of a list or set that no realm has, as conditions are tried on them: on copies, in a realm in memory.
struct UnmanagedObjects {
    private let type: Object.Type
    private let objects: [Object]

    /// - Returns: nil for a collection of a realm, and for one of something else.
    init?(_ collection: some RealmCollection) {
        guard let properties = collection as? any _PropertyCollection, properties._field == nil,
            let type = Swift.type(of: properties)._shape.target as? Object.Type
        else { return nil }
        self.type = type
        objects = collection.compactMap { $0 as? Object }
    }

    /// The position of the first object that meets a condition; nil if there is none.
    func position(_ condition: QueryPredicate) throws -> Int? {
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString, objectTypes: Self.reached(from: type)))
        realm.beginWrite()
        defer { realm.cancelWrite() }
        let instance = realm.instance
        let className = instance.name(of: type)
        let schema = QuerySchema(instance.schema, names: instance.names(of: className, type))
        let query = try condition.query(on: className, schema)
        return objects.firstIndex { object in
            // Objects with one primary key are tried one after the other.
            let made = realm.create(type, value: object, update: .all)
            guard let address = made.handle?.address else { return false }
            return instance.read { state in
                let state = copy state
                return state.object(address).map { query.matches($0, key: address.key, in: StateGraph(state)) } ?? false
            }
        }
    }

    /// The class with all that its properties lead to.
    private static func reached(from type: ObjectBase.Type) -> [ObjectBase.Type] {
        var reached: [ObjectBase.Type] = [type]
        var known: Set<ObjectIdentifier> = [ObjectIdentifier(type)]
        var next = 0
        while next < reached.count {
            for target in ModelSchema.of(reached[next]).all.compactMap(\.shape.target)
            where known.insert(ObjectIdentifier(target)).inserted {
                reached.append(target)
            }
            next += 1
        }
        return reached
    }
}
