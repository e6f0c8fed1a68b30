internal import Changesets
internal import Query
internal import RealmState

/// The values of a list or set that no realm has, as conditions are tried on them.
struct UnmanagedValues {
    private static let className: ByteString = "values"
    private let values: [Value]
    private let schema: QuerySchema

    /// - Returns: nil for a collection of a realm, for what is no list or set, and for one of objects.
    init?(_ collection: some RealmCollection) {
        guard let properties = collection as? any _PropertyCollection, properties._field == nil else { return nil }
        let shape = type(of: properties)._shape
        guard shape.target == nil,
            let schema = HeldValues.querySchema(Self.className, shape.type, isOptional: shape.isOptional)
        else { return nil }
        self.schema = schema
        values = collection.map(Self.value)
    }

    private static func value(_ element: Any) -> Value {
        if let mixed = element as? AnyRealmValue {
            return (try? ValueConversion(schema: StoredSchema()).value(mixed, as: .mixed)) ?? .null
        }
        return (element as? any _Scalar)?._stored.value ?? .null
    }

    /// The position of the first value that meets a condition; nil if there is none.
    func position(_ condition: QueryPredicate) -> Int? {
        let query = ValueConversion.orTrap { try condition.query(on: Self.className, schema) }
        return values.firstIndex { query.matches(HeldValues.object(holding: $0), key: .null) }
    }
}
