/// What syncing a realm needs this device's storage for, in the words for the app when it fails.
enum StorageWork: String {
    case identity = "the file's identity cannot be kept"
    case download = "what was downloaded cannot be stored"
    case subscriptions = "what the server says of the subscriptions cannot be kept"
    case upload = "the local history cannot be read"
    case startOver = "a client reset could not be begun"
    case freshCopy = "the fresh copy of a client reset cannot be opened"
    case merge = "the merge of a client reset cannot be stored"
}
