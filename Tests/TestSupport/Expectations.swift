import Foundation
package import Testing

// Plain functions beside `#expect`, which says more of an expression's parts but takes the compiler seven times as long: with some
// 7,000 expectations a third of the tests' build.

/// Records an issue at the call unless a condition holds.
package func expectTrue(
    _ condition: Bool, _ comment: @autoclosure () -> Comment? = nil, fileID: String = #fileID,
    filePath: String = #filePath, line: Int = #line, column: Int = #column
) {
    guard !condition else { return }
    let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    record("does not hold: \(text(at: location) ?? "the condition")", comment(), location)
}

/// Records an issue at the call unless two values are equal.
package func expectEqual<Value: Equatable>(
    _ actual: Value, _ expected: Value, _ comment: @autoclosure () -> Comment? = nil, fileID: String = #fileID,
    filePath: String = #filePath, line: Int = #line, column: Int = #column
) {
    guard actual != expected else { return }
    let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    record("\(description(of: actual)) is not equal to \(description(of: expected))", comment(), location)
}

private func record(_ failure: String, _ comment: Comment?, _ location: SourceLocation) {
    Issue.record("\(comment.map { "\($0): " } ?? "")\(failure)", sourceLocation: location)
}

private func description(of value: some Equatable) -> String {
    let text = String(reflecting: value)
    return text.count > 2_000 ? "\(text.prefix(2_000)) ..." : text
}

/// The line of a test that an expectation stands in, which nobody reads before the expectation fails.
private func text(at location: SourceLocation) -> String? {
    guard let file = try? String(contentsOfFile: location.filePath, encoding: .utf8) else { return nil }
    let lines = file.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(location.line - 1) else { return nil }
    return lines[location.line - 1].trimmingCharacters(in: .whitespaces)
}
