package import Changesets
package import RealmState

/// An object as queries read it: one value at a time, so that a source may decode no more than it is asked for.
package protocol QueryObject: Sendable {
    /// What the object stores for a column; nil for one that holds its default.
    func value(of column: ColumnID) -> Value?
}

extension StoredObject: QueryObject {
    package func value(of column: ColumnID) -> Value? { self[column] }
}

/// The other objects of a realm, for queries that follow links. Without one, links are addresses only: nothing is read
/// through them, and all their targets count as existing.
package protocol QueryGraph: Sendable {
    var schema: QuerySchema { get }
    /// Nil if there is no such object: links to it read as null.
    func object(at address: ObjectAddress) -> (any QueryObject)?
    /// The objects of a class whose property points at an object, once for each link.
    func origins(of address: ObjectAddress, in className: ByteString, over column: ColumnID) -> [ObjectAddress]
    /// All links to an object, from wherever they come.
    func incomingLinkCount(of address: ObjectAddress) -> Int
}
