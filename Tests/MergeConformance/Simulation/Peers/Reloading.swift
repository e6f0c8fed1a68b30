import Changesets
import RealmState

/// P8: a process that ends and one that goes on from what was stored. Histories are bytes already; the state goes through
/// the rows of a store.
extension RealmState {
    func reloaded() throws(SimulationFailure) -> RealmState {
        do throws(RealmStateError) {
            let schema = try Schema(decoding: schema.encoded())
            var copy = RealmState(schema: schema, compatibility: compatibility)
            for table in schema.tables {
                for (key, object) in objects(of: table.name) {
                    copy.load(ObjectAddress(table.name, key), try StoredObject(decoding: object.encoded()))
                }
            }
            guard StateDump.canonical(of: copy) == StateDump.canonical(of: self) else {
                throw RealmStateError(.corrupt, "the state that was loaded is not the one that was stored")
            }
            return copy
        } catch {
            throw SimulationFailure(.reloadChangesNothing, error.description)
        }
    }
}
