//! Which members share a host, where each knows only those of its own.

use super::net::{step, stream_in, stream_out};
use super::tree::Tree;
use super::{Buffer, Net, Phase};
use crate::base::Fault;

/// Bytes of the first message of a list: its size, then as much of it as fits. That is all where hosts are alike.
const HEAD: usize = 64;

/// First members of all hosts, in ascending order. `first_local`: that of this member's.
///
/// Lists of branches are put together up a tree, and the whole comes down.
pub async fn hosts(net: &dyn Net, first_local: usize) -> Result<Vec<u32>, Fault> {
    let tree = Tree::of(net);
    let mut list = Vec::new();
    if first_local == net.me() {
        list.push(first_local as u32);
    }
    let mut children: Vec<usize> = tree.children().map(|(child, _)| child).collect();
    children.reverse();
    for child in &children {
        list.extend(decode(&receive(net, *child, Phase::First).await?));
    }
    let mut whole = encode(&list);
    if let Some(parent) = tree.parent() {
        send(net, parent, Phase::First, &mut whole).await?;
        whole = receive(net, parent, Phase::Second).await?;
    }
    for child in children.iter().rev() {
        send(net, *child, Phase::Second, &mut whole).await?;
    }
    Ok(decode(&whole))
}

async fn send(net: &dyn Net, to: usize, phase: Phase, list: &mut [u8]) -> Result<(), Fault> {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&(list.len() as u32).to_le_bytes());
    let (first, rest) = list.split_at(list.len().min(HEAD - 4));
    head[4..4 + first.len()].copy_from_slice(first);
    net.send(to, step(phase, 0, 0), &head)?;
    if rest.is_empty() {
        return Ok(());
    }
    let mut buffer = Buffer::new(rest.len());
    buffer.bytes().copy_from_slice(rest);
    stream_out(net, to, phase, 1, &buffer.object(), 0, rest.len()).await
}

async fn receive(net: &dyn Net, from: usize, phase: Phase) -> Result<Vec<u8>, Fault> {
    let mut head = [0; HEAD];
    net.receive(from, step(phase, 0, 0), &mut head).await?;
    let (size, first) = head.split_at(4);
    let size = size.iter().rev().fold(0usize, |size, byte| size << 8 | usize::from(*byte));
    let mut list = first[..size.min(first.len())].to_vec();
    if size > list.len() {
        stream_in(net, from, phase, 1, size - list.len(), &mut |_, part| list.extend_from_slice(part)).await?;
    }
    Ok(list)
}

/// An ascending list as (first, distance, count) where that is short, else as its first number and distances of one
/// byte; a distance of 0 is followed by one of four.
fn encode(list: &[u32]) -> Vec<u8> {
    let Some(first) = list.first() else { return Vec::new() };
    let distances = || list.windows(2).map(|pair| pair[1] - pair[0]);
    let distance = distances().next().unwrap_or(1);
    if distances().all(|d| d == distance) {
        return [*first, distance, list.len() as u32].iter().flat_map(|number| number.to_le_bytes()).collect();
    }
    let mut bytes = first.to_le_bytes().to_vec();
    for distance in distances() {
        match u8::try_from(distance) {
            Ok(short) => bytes.push(short),
            Err(_) => bytes.extend([0].into_iter().chain(distance.to_le_bytes())),
        }
    }
    // Not to be taken for the short form.
    if bytes.len() == 12 {
        bytes.push(0);
    }
    bytes
}

fn decode(bytes: &[u8]) -> Vec<u32> {
    let number = |bytes: &[u8]| bytes.iter().take(4).rev().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    if bytes.is_empty() {
        return Vec::new();
    }
    if bytes.len() == 12 {
        let (first, distance, count) = (number(bytes), number(&bytes[4..]), number(&bytes[8..]));
        return (0..count).map(|i| first + i * distance).collect();
    }
    let mut list = vec![number(bytes)];
    let (mut last, mut rest) = (list[0], &bytes[4..]);
    while let [short, after @ ..] = rest {
        rest = after;
        last += match short {
            0 if after.len() < 4 => break,
            0 => {
                rest = &after[4..];
                number(after)
            }
            short => u32::from(*short),
        };
        list.push(last);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back() {
        let spread: Vec<u32> = (0..50_000u32).map(|i| i * 7 + i % 3 + i / 1000 * 400).collect();
        let lists: [&[u32]; 8] =
            [&[], &[5], &[5, 9], &[0, 1, 2, 3], &[0, 4, 5], &[0, 1, 3, 4, 5, 6, 7, 8, 9], &[0, 300, 301], &spread];
        for list in lists {
            assert_eq!(decode(&encode(list)), list);
        }
        let alike: Vec<u32> = (0..1 << 20).collect();
        assert_eq!(encode(&alike).len(), 12);
        for size in 2..40 {
            let list: Vec<u32> = (0..size).chain([size + 1]).collect();
            assert_eq!(decode(&encode(&list)), list);
        }
    }
}
