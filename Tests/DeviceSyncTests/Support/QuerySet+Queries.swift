import Foundation
import SyncProtocol

extension QuerySet {
    /// Class name (without `class_`) to query.
    func queries() throws -> [String: String] { try JSONDecoder().decode([String: String].self, from: Data(text.utf8)) }
}
