/// What stands for `$0`, `$1` and so on in a query.
struct QueryArguments {
    let values: [QueryArgument]

    /// - Throws: an error at `offset` if there are not so many.
    func argument(_ number: Int, _ offset: Int) throws(QueryError) -> QueryArgument {
        guard values.indices.contains(number) else {
            throw .argument("expected an argument for $\(number), found \(values.count) arguments", at: offset)
        }
        return values[number]
    }
}
