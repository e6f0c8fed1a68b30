import Foundation

/// What an app has its users' addresses asked for by mail (`local-userpass`).
package struct EmailLoginSettings: Codable, Sendable, Equatable {
    /// Where the mail that confirms an address leads; `token` and `tokenId` are added to its query. Accounts count only
    /// when their address is confirmed; nil: at once.
    package var confirmURL: String?
    /// Where the mail that allows a new password leads; nil: there are no such mails.
    package var resetURL: String?

    /// The mistake, in a sentence that names the key; nil if nothing is.
    package var problem: String? {
        if confirmURL == nil, resetURL == nil { return "expected confirmURL, resetURL or both" }
        for (name, text) in [("confirmURL", confirmURL), ("resetURL", resetURL)] {
            guard let text else { continue }
            let url = URLComponents(string: text)
            guard text.utf8.count <= 1000, url?.scheme?.isEmpty == false, url?.fragment == nil else {
                return "\(name): expected a URL without a fragment, of at most 1,000 bytes"
            }
        }
        return nil
    }

    /// Returns one of the URLs with a mail token and its id in the query, which prove that the reader has the mail.
    package static func link(_ url: String, token: String, tokenID: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        parts.queryItems =
            (parts.queryItems ?? []) + [
                URLQueryItem(name: "token", value: token), URLQueryItem(name: "tokenId", value: tokenID),
            ]
        return parts.string ?? url
    }
}
