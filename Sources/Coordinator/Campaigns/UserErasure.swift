import Foundation

/// How the campaigns are called that erase a deleted user's own realms: their ids say whose those were.
enum UserErasure {
    /// - Parameter index: of the realm among the user's.
    static func campaign(app: String, user: String, index: Int) -> String { prefix(app) + "\(user)\(suffix)\(index)" }

    /// Nil for a campaign of another kind.
    static func user(ofCampaign id: String, app: String) -> String? {
        guard id.hasPrefix(prefix(app)), let end = id.range(of: suffix, options: .backwards),
            Int(id[end.upperBound...]) != nil
        else { return nil }
        let user = id[..<end.lowerBound].dropFirst(prefix(app).count)
        return user.isEmpty ? nil : String(user)
    }

    private static func prefix(_ app: String) -> String { "\(app).user-" }
    private static let suffix = ".erased-"
}
