import DeviceSync
import Foundation

/// One task of a list.
final class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    /// The list that it is on: what a device subscribes to.
    @Persisted(indexed: true) var list: String
    @Persisted var title: String
    @Persisted var isDone: Bool
    /// Who wrote it down.
    @Persisted var author: String
    /// Who is to do it; nobody yet, until somebody or something decides.
    @Persisted var assignee: String?
    @Persisted var createdAt: Date
}
