/// How log lines are written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object a line, for collectors.
    case json
    /// One line of plain text, for people.
    case text
}
