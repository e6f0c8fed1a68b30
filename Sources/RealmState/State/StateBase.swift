package import Changesets

/// The objects of one version of a realm, as some store has them: what a state stands on that does not hold all of its objects itself.
///
/// A base never changes. Everything that is written after it is in the states that stand on it. Classes and objects that it does not have are
/// no error; a base whose store fails decides itself what becomes of that, since most readers cannot throw.
package protocol StateBase: AnyObject, Sendable {
    /// Nil if there is no such object.
    func object(_ key: ObjectKey, of table: TableID) -> StoredObject?
    /// How many objects a class has.
    func count(of table: TableID) -> Int
    /// The keys of a class that come after one, ascending: `limit` of them, or all that are left.
    func keys(of table: TableID, after key: ObjectKey?, limit: Int) -> [ObjectKey]
    /// The objects of a class that come after a key, by ascending key: some of them, or none if none is left.
    func objects(of table: TableID, after key: ObjectKey?) -> [(key: ObjectKey, object: StoredObject)]
    /// Objects of a class by their keys, in the same order; nil for those that there are not.
    func objects(at keys: [ObjectKey], of table: TableID) -> [StoredObject?]
    /// The keys of the objects that hold a value in these ranges in a column, in no order; nil if the base has no index of the column, or finds too
    /// many for it to be of use. Of a long value the index may have the beginning only.
    func keys(of table: TableID, having column: ColumnID, in ranges: [OrderedBytes.Range]) -> [ObjectKey]?
    /// All objects that link to an object, and maybe some that did once; each of them once.
    func sources(linkingTo target: ObjectAddress) -> [(table: TableID, key: ObjectKey)]
}
