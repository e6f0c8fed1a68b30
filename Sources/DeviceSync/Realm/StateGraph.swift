internal import Changesets
internal import Query
internal import RealmState

/// The objects of a realm at one version, for queries that follow links.
struct StateGraph: QueryGraph {
    let schema: QuerySchema
    private let state: RealmState

    init(_ state: RealmState) {
        self.state = state
        schema = QuerySchema(state.schema)
    }

    func object(at address: ObjectAddress) -> (any QueryObject)? { state.object(address) }

    func origins(of address: ObjectAddress, in className: ByteString, over column: ColumnID) -> [ObjectAddress] {
        guard let name = state.schema.table(className)?.columns.first(where: { $0.id == column })?.name else {
            return []
        }
        return links(to: address).filter { $0.source.className == className && $0.field == name }.map(\.source)
    }

    func incomingLinkCount(of address: ObjectAddress) -> Int { links(to: address).count }

    private func links(to address: ObjectAddress) -> [IncomingLink] {
        // Looking there may tidy the index up, which this copy's owner has no use for.
        var state = state
        return state.incomingLinks(to: address)
    }
}
