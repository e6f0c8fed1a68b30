import Changesets
internal import Foundation

/// Texts without diacritical marks, as Foundation has them: those of a base letter fall away, and with the case everything that Unicode folds.
enum MarkFolding {
    static func folded(_ text: ByteString, ignoresCase: Bool) -> [UInt8] {
        let options: String.CompareOptions =
            ignoresCase ? [.diacriticInsensitive, .caseInsensitive] : .diacriticInsensitive
        return Array(text.string.folding(options: options, locale: nil).utf8)
    }
}
