internal import Changesets
internal import RealmState

/// Elements by the keys of their sections, in the order in which the keys are met.
struct Sections<Key: Hashable & Sendable>: Sendable {
    private(set) var keys: [Key] = []
    /// What the elements of each section are: links to objects, or values.
    private(set) var values: [[RealmValue]] = []
    private var indexes: [Key: Int] = [:]

    init(_ elements: [RealmValue], by key: (RealmValue) -> Key) {
        for element in elements {
            let key = key(element)
            if let index = indexes[key] {
                values[index].append(element)
            } else {
                indexes[key] = keys.count
                keys.append(key)
                values.append([element])
            }
        }
    }

    func index(of key: Key) -> Int? { indexes[key] }

    func values(of key: Key) -> [RealmValue] { indexes[key].map { values[$0] } ?? [] }
}

/// What is put into sections: where it comes from, in its order.
struct SectionSource<Element: RealmCollectionValue>: Sendable {
    let instance: RealmInstance
    /// The class of the objects; an empty name for values.
    let className: ByteString
    /// What the elements are in an instance: links to objects, or values.
    let values: @Sendable (RealmInstance) -> [RealmValue]
    let element: @Sendable (RealmInstance, RealmValue) -> Element
    /// Whether the object that the elements are of was deleted.
    let isGone: @Sendable (RealmInstance) -> Bool

    func moved(to instance: RealmInstance) -> SectionSource {
        SectionSource(instance: instance, className: className, values: values, element: element, isGone: isGone)
    }
}

extension SectionSource {
    /// The objects or values of a collection.
    init(_ results: Results<Element>) {
        let (className, query) = (results.className, results.query)
        let isGone: @Sendable (RealmInstance) -> Bool = { query?.source.isGone(in: $0) ?? false }
        if let held = results.held {
            self.init(
                instance: results.instance, className: "",
                values: { instance in
                    let keys = ResultsQuery.keys(className, query, instance)
                    return instance.read { state in
                        var values: [RealmValue] = []
                        for key in keys { if let item = held.item(at: key, state) { values.append(item.value) } }
                        return values
                    }
                },
                element: { instance, value in
                    let owner = ObjectHandle(instance, held.field.object)
                    return Element._decode(
                        _StoredValue(
                            value, in: _Field(instance: instance, address: held.field, property: nil, owner: owner)))
                }, isGone: isGone)
            return
        }
        self.init(
            instance: results.instance, className: className,
            values: { instance in
                ResultsQuery.keys(className, query, instance).map { .link(ObjectAddress(className, $0)) }
            },
            element: { instance, value in
                guard case .link(let address) = value else { preconditionFailure("an object that is no link") }
                let owner = ObjectHandle(instance, address)
                let field = _Field(instance: instance, address: FieldAddress(address, ""), property: nil, owner: owner)
                return Element._decode(_StoredValue(value, in: field))
            }, isGone: isGone)
    }
}
