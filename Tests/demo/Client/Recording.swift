/// What Tests/Fixtures/recordings/stock-client.ndjson writes: 41 changesets of a stock client, two of them schema.
enum Recording {
    static let className = "Item"
    static let objectCount = 800
}
