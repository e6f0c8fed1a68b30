import DeviceSync
import Foundation

/// What this program needs of a task. The class has further properties, which other programs declare.
final class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var title: String
    @Persisted var assignee: String?
    @Persisted var assignedAt: Date?
}
