/// Two offline clients' changesets over one base, as the benchmark recordings hold them.
package struct BenchInput: Decodable, Sendable {
    package var kind: String?
    package var ours: [RecordedChangeset]
    package var theirs: [RecordedChangeset]
}
