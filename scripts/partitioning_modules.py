#!/usr/bin/env python3
"""Writes the programs of test/partitioning: as jax hands them over, with shardings for 2, 4 and 8 devices, and in the first
line what a device of jaxlib's own partitioned program sends, counted as ours are.

Needs jax 0.10.2 (`pip install jax==0.10.2`) and hlo-opt (target/release/hlo-opt, or the one that HLO_OPT names):

    python3 scripts/partitioning_modules.py [NAME ...]

Each program is a function of a mesh that gives the function, its arguments, and the shardings of arguments and results. What
is not cut is whole on each device.
"""
import json
import os
import re
import subprocess
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P, NamedSharding
F=jnp.float32; I=jnp.int32
def Z(*s, t=F): return jax.ShapeDtypeStruct(s, t)
PROGS={}
def prog(f): PROGS[f.__name__]=f; return f
class M:
    """A mesh: 1d axis 'd', or 2d ('x','y') with x*y=n."""
    def __init__(s,n):
        s.n=n; devs=np.array(jax.devices()[:n])
        s.one=Mesh(devs,("d",))
        x={2:1,4:2,8:2}[n]; s.x,s.y=x,n//x
        s.two=Mesh(devs.reshape(x,n//x),("x","y"))
    def d(s,*p): return NamedSharding(s.one,P(*p))
    def xy(s,*p): return NamedSharding(s.two,P(*p))
cons=lax.with_sharding_constraint
def ln(x,g,b):
    m=x.mean(-1,keepdims=True); v=((x-m)**2).mean(-1,keepdims=True)
    return (x-m)*lax.rsqrt(v+1e-5)*g+b
def sgd(loss):
    def step(p,*a):
        l,g=jax.value_and_grad(loss)(p,*a)
        return jax.tree.map(lambda w,d:w-0.1*d,p,g),l
    return step

# --- MLP
def mlp(p,x):
    for i,(w,b) in enumerate(p):
        x=x@w+b
        if i+1<len(p): x=jax.nn.relu(x)
    return x
MLPP=[(Z(16,32),Z(32)),(Z(32,8),Z(8))]
@prog
def mlp_data_parallel(m):
    return mlp,(MLPP,Z(32,16)),(jax.tree.map(lambda _:m.d(),MLPP),m.d("d")),m.d("d")
@prog
def mlp_tensor_parallel(m):
    return mlp,(MLPP,Z(8,16)),([(m.d(None,"d"),m.d("d")),(m.d("d",None),m.d())],m.d()),m.d()
@prog
def mlp_2d(m):
    return mlp,(MLPP,Z(16,16)),([(m.xy(None,"y"),m.xy("y")),(m.xy("y",None),m.xy())],m.xy("x")),m.xy("x")
@prog
def mlp_sequence_parallel(m):
    # Megatron's sequence parallelism: activations between layers are cut by tokens.
    return mlp,(MLPP,Z(32,16)),([(m.d(None,"d"),m.d("d")),(m.d("d",None),m.d())],m.d("d")),m.d("d")
@prog
def mlp_fsdp(m):
    return mlp,(MLPP,Z(64,16)),([(m.d("d"),m.d("d")),(m.d("d"),m.d("d"))],m.d("d")),m.d("d")
def mse(p,x,y): return ((mlp(p,x)-y)**2).mean()
@prog
def mlp_train_data(m):
    s=jax.tree.map(lambda _:m.d(),MLPP)
    return sgd(mse),(MLPP,Z(32,16),Z(32,8)),(s,m.d("d"),m.d("d")),(s,m.d())
@prog
def mlp_train_tensor(m):
    s=[(m.d(None,"d"),m.d("d")),(m.d("d",None),m.d())]
    return sgd(mse),(MLPP,Z(16,16),Z(16,8)),(s,m.d(),m.d()),(s,m.d())
@prog
def mlp_train_2d(m):
    s=[(m.xy(None,"y"),m.xy("y")),(m.xy("y",None),m.xy())]
    return sgd(mse),(MLPP,Z(16,16),Z(16,8)),(s,m.xy("x"),m.xy("x")),(s,m.xy())
@prog
def mlp_train_fsdp(m):
    s=[(m.d("d"),m.d("d")),(m.d("d"),m.d("d"))]
    return sgd(mse),(MLPP,Z(64,16),Z(64,8)),(s,m.d("d"),m.d("d")),(s,m.d())
@prog
def mlp_adam_zero(m):
    # Parameters whole, the optimizer's state cut (ZeRO 1).
    def step(p,mo,x,y):
        l,g=jax.value_and_grad(mse)(p,x,y)
        mo=jax.tree.map(lambda a,d:0.9*a+0.1*d,mo,g)
        return jax.tree.map(lambda w,a:w-0.1*a,p,mo),mo,l
    r=jax.tree.map(lambda _:m.d(),MLPP); c=jax.tree.map(lambda _:m.d("d"),MLPP)
    return step,(MLPP,MLPP,Z(32,16),Z(32,8)),(r,c,m.d("d"),m.d("d")),(r,c,m.d())
@prog
def gated_mlp(m):
    def f(x,wg,wu,wd): return (jax.nn.silu(x@wg)*(x@wu))@wd
    return f,(Z(16,16),Z(16,32),Z(16,32),Z(32,16)),(m.d(),m.d(None,"d"),m.d(None,"d"),m.d("d")),m.d()
@prog
def mixer(m):
    # Batch cut; token mixing and channel mixing.
    def f(x,a,b,c,e,g,h):
        y=ln(x,g,h); y=jnp.swapaxes(y,1,2); y=jax.nn.gelu(y@a)@b; x=x+jnp.swapaxes(y,1,2)
        y=ln(x,g,h); return (x+jax.nn.gelu(y@c)@e).mean(1)
    A=(Z(16,8,8),Z(8,16),Z(16,8),Z(8,16),Z(16,8),Z(8),Z(8))
    return f,A,(m.d("d"),)+(m.d(),)*6,m.d("d")
@prog
def mixer_tokens(m):
    def f(x,a,b,c,e,g,h):
        y=ln(x,g,h); y=jnp.swapaxes(y,1,2); y=jax.nn.gelu(y@a)@b; x=x+jnp.swapaxes(y,1,2)
        y=ln(x,g,h); return (x+jax.nn.gelu(y@c)@e).mean(1)
    A=(Z(4,16,8),Z(16,16),Z(16,16),Z(8,16),Z(16,8),Z(8),Z(8))
    return f,A,(m.d(None,"d"),m.d(None,"d"),m.d("d"))+(m.d(),)*4,m.d()
# --- attention
def attn(q,k,v,causal=True):
    s=jnp.einsum("bqhd,bkhd->bhqk",q,k)/np.sqrt(q.shape[-1])
    if causal:
        n=s.shape[-1]; s=jnp.where(jnp.tril(jnp.ones((n,n),bool)),s,-1e9)
    return jnp.einsum("bhqk,bkhd->bqhd",jax.nn.softmax(s,-1),v)
QKV=(Z(2,8,8,4),)*3
@prog
def attention_heads(m):
    s=m.d(None,None,"d"); return attn,QKV,(s,s,s),s
@prog
def attention_batch(m):
    s=m.d("d"); return attn,(Z(8,8,2,4),)*3,(s,s,s),s
@prog
def attention_sequence(m):
    s=m.d(None,"d"); return attn,QKV,(s,s,s),s
@prog
def attention_keys(m):
    # Keys and values cut by position, queries whole: the softmax is combined.
    s=m.d(None,"d"); return (lambda q,k,v:attn(q,k,v,False)),QKV,(m.d(),s,s),m.d()
@prog
def attention_ulysses(m):
    # Cut by sequence outside, by heads within: all-to-alls.
    s=m.d(None,"d"); h=m.d(None,None,"d")
    def f(q,k,v):
        q,k,v=(cons(a,h) for a in (q,k,v)); return cons(attn(q,k,v),s)
    return f,QKV,(s,s,s),s
def block(p,x):
    b,n,e=x.shape; h=8
    y=ln(x,p["g1"],p["b1"])
    q,k,v=((y@p[w]).reshape(b,n,h,-1) for w in ("wq","wk","wv"))
    x=x+attn(q,k,v).reshape(b,n,-1)@p["wo"]
    y=ln(x,p["g2"],p["b2"])
    return x+jax.nn.gelu(y@p["w1"])@p["w2"]
E_=16
BP={"g1":Z(E_),"b1":Z(E_),"wq":Z(E_,16),"wk":Z(E_,16),"wv":Z(E_,16),"wo":Z(16,E_),"g2":Z(E_),"b2":Z(E_),"w1":Z(E_,32),"w2":Z(32,E_)}
def megatron(s,ax):
    c=s(None,ax); r=s(ax,None)
    return {"g1":s(),"b1":s(),"wq":c,"wk":c,"wv":c,"wo":r,"g2":s(),"b2":s(),"w1":c,"w2":r}
@prog
def transformer_megatron(m): return block,(BP,Z(2,8,16)),(megatron(m.d,"d"),m.d()),m.d()
@prog
def transformer_2d(m): return block,(BP,Z(4,8,16)),(megatron(m.xy,"y"),m.xy("x")),m.xy("x")
@prog
def transformer_sequence(m):
    # Weights cut as Megatron's, activations between blocks by position.
    return block,(BP,Z(2,8,16)),(megatron(m.d,"d"),m.d(None,"d")),m.d(None,"d")
@prog
def transformer_fsdp(m):
    s=jax.tree.map(lambda _:m.d("d"),BP); return block,(BP,Z(8,8,16)),(s,m.d("d")),m.d("d")
@prog
def transformer_train_2d(m):
    s=megatron(m.xy,"y")
    return sgd(lambda p,x:(block(p,x)**2).mean()),(BP,Z(4,8,16)),(s,m.xy("x")),(s,m.xy())
@prog
def transformer_train_data(m):
    s=jax.tree.map(lambda _:m.d(),BP)
    return sgd(lambda p,x:(block(p,x)**2).mean()),(BP,Z(8,4,16)),(s,m.d("d")),(s,m.d())
@prog
def kv_cache_decode(m):
    # One step of decoding: the cache is cut by heads and updated in place.
    def f(q,k,v,ck,cv,i):
        ck=lax.dynamic_update_slice(ck,k,(0,i,0,0)); cv=lax.dynamic_update_slice(cv,v,(0,i,0,0))
        s=jnp.einsum("bqhd,bkhd->bhqk",q,ck); s=jnp.where(jnp.arange(ck.shape[1])<=i,s,-1e9)
        return jnp.einsum("bhqk,bkhd->bqhd",jax.nn.softmax(s,-1),cv),ck,cv
    h=m.d(None,None,"d"); o=Z(2,1,8,4); c=Z(2,16,8,4)
    return f,(o,o,o,c,c,Z(t=I)),(h,h,h,h,h,m.d()),(h,h,h)
# --- convolutions
DN=("NHWC","HWIO","NHWC")
def conv(x,w,s=1,pad="SAME",g=1): return lax.conv_general_dilated(x,w,(s,s),pad,dimension_numbers=DN,feature_group_count=g)
def cnn(p,x):
    x=jax.nn.relu(conv(x,p["a"])); x=jax.nn.relu(conv(x,p["b"],2))
    x=lax.reduce_window(x,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),"VALID")
    return x.mean((1,2))@p["w"]
CP={"a":Z(3,3,4,8),"b":Z(3,3,8,8),"w":Z(8,8)}
CX=Z(8,16,8,4)
@prog
def cnn_batch(m): return cnn,(CP,CX),(jax.tree.map(lambda _:m.d(),CP),m.d("d")),m.d("d")
@prog
def cnn_features(m):
    s={"a":m.d(None,None,None,"d"),"b":m.d(None,None,"d",None),"w":m.d()}
    return cnn,(CP,Z(2,16,8,4)),(s,m.d()),m.d()
def cnn_s(p,x): return conv(jax.nn.relu(conv(x,p["a"])),p["b"])
CPS={"a":Z(3,3,4,8),"b":Z(3,3,8,8)}
CXS=Z(2,32,8,4)
@prog
def cnn_spatial(m): return cnn_s,(CPS,CXS),({"a":m.d(),"b":m.d()},m.d(None,"d")),m.d(None,"d")
@prog
def cnn_strided_spatial(m):
    return (lambda p,x:conv(jax.nn.relu(conv(x,p["a"],2)),p["b"])),(CPS,CXS),({"a":m.d(),"b":m.d()},m.d(None,"d")),m.d(None,"d")
@prog
def cnn_train_batch(m):
    s=jax.tree.map(lambda _:m.d(),CP)
    return sgd(lambda p,x:(cnn(p,x)**2).mean()),(CP,CX),(s,m.d("d")),(s,m.d())
@prog
def cnn_train_spatial(m):
    s=jax.tree.map(lambda _:m.d(),CPS)
    return sgd(lambda p,x:(cnn_s(p,x)**2).mean()),(CPS,CXS),(s,m.d(None,"d")),(s,m.d())
@prog
def cnn_train_features(m):
    s={"a":m.d(None,None,None,"d"),"b":m.d(None,None,"d",None)}
    return sgd(lambda p,x:(cnn_s(p,x)**2).mean()),(CPS,Z(2,8,8,4)),(s,m.d()),(s,m.d())
@prog
def grouped_conv(m):
    f=lambda x,w:conv(x,w,g=8)
    return f,(Z(2,8,8,16),Z(3,3,2,32)),(m.d(None,None,None,"d"),m.d(None,None,None,"d")),m.d(None,None,None,"d")
@prog
def depthwise_separable(m):
    def f(x,w,v): return jax.nn.relu(conv(jax.nn.relu(conv(x,w,g=16)),v))
    return f,(Z(2,8,8,16),Z(3,3,1,16),Z(1,1,16,8)),(m.d(None,None,None,"d"),m.d(None,None,None,"d"),m.d(None,None,"d")),m.d()
@prog
def grouped_conv_train(m):
    def loss(w,x): return (conv(x,w,g=8)**2).mean()
    def f(w,x):
        l,(gw,gx)=jax.value_and_grad(loss,(0,1))(w,x); return w-gw,gx,l
    s=m.d(None,None,None,"d")
    return f,(Z(3,3,2,16),Z(2,8,8,16)),(s,s),(s,s,m.d())
@prog
def conv_1d_sequence(m):
    def f(x,w): return lax.conv_general_dilated(x,w,(1,),[(3,0)],dimension_numbers=("NWC","WIO","NWC"))
    return f,(Z(2,32,8),Z(4,8,8)),(m.d(None,"d"),m.d()),m.d(None,"d")
# --- experts
def moe(x,wr,w1,w2):
    # Top-1 routing with a capacity, dispatched by einsum.
    g,s,e=x.shape; n=wr.shape[1]; c=4
    gates=jax.nn.softmax(x@wr,-1); idx=jnp.argmax(gates,-1)
    hot=jax.nn.one_hot(idx,n,dtype=F); pos=jnp.cumsum(hot,1)*hot-1
    disp=hot[...,None]*jax.nn.one_hot(pos.astype(I),c,dtype=F)
    comb=disp*gates.max(-1)[...,None,None]
    xin=jnp.einsum("gsec,gsm->egcm",disp,x)
    return xin,comb
@prog
def moe_expert_parallel(m):
    def f(x,wr,w1,w2):
        xin,comb=moe(x,wr,w1,w2); xin=cons(xin,m.d("d"))
        h=jax.nn.relu(jnp.einsum("egcm,emh->egch",xin,w1)); y=jnp.einsum("egch,ehm->egcm",h,w2)
        y=cons(y,m.d(None,"d")); return jnp.einsum("gsec,egcm->gsm",comb,y)
    return f,(Z(8,8,8),Z(8,8),Z(8,8,16),Z(8,16,8)),(m.d("d"),m.d(),m.d("d"),m.d("d")),m.d("d")
@prog
def moe_experts_of_whole(m):
    def f(x,wr,w1,w2):
        xin,comb=moe(x,wr,w1,w2)
        h=jax.nn.relu(jnp.einsum("egcm,emh->egch",xin,w1)); y=jnp.einsum("egch,ehm->egcm",h,w2)
        return jnp.einsum("gsec,egcm->gsm",comb,y)
    return f,(Z(2,8,8),Z(8,8),Z(8,8,16),Z(8,16,8)),(m.d(),m.d(),m.d("d"),m.d("d")),m.d()
@prog
def moe_2d(m):
    def f(x,wr,w1,w2):
        xin,comb=moe(x,wr,w1,w2); xin=cons(xin,m.xy("y","x"))
        h=jax.nn.relu(jnp.einsum("egcm,emh->egch",xin,w1)); y=jnp.einsum("egch,ehm->egcm",h,w2)
        y=cons(y,m.xy("y","x")); return jnp.einsum("gsec,egcm->gsm",comb,y)
    return f,(Z(4,8,8),Z(8,8),Z(8,8,16),Z(8,16,8)),(m.xy("x"),m.xy(),m.xy("y"),m.xy("y")),m.xy("x")
@prog
def moe_train(m):
    def loss(p,x):
        xin,comb=moe(x,*p); xin=cons(xin,m.d("d"))
        h=jax.nn.relu(jnp.einsum("egcm,emh->egch",xin,p[1])); y=jnp.einsum("egch,ehm->egcm",h,p[2])
        y=cons(y,m.d(None,"d")); return (jnp.einsum("gsec,egcm->gsm",comb,y)**2).mean()
    s=(m.d(),m.d("d"),m.d("d"))
    return sgd(loss),((Z(8,8),Z(8,8,16),Z(8,16,8)),Z(8,8,8)),(s,m.d("d")),(s,m.d())
# --- embeddings, losses
take=lambda t,i:jnp.take(t,i,axis=0,mode="clip")
@prog
def embedding_vocab(m): return take,(Z(64,8),Z(4,8,t=I)),(m.d("d"),m.d()),m.d()
@prog
def embedding_batch(m): return take,(Z(64,8),Z(8,8,t=I)),(m.d(),m.d("d")),m.d("d")
@prog
def embedding_features(m): return take,(Z(64,16),Z(4,8,t=I)),(m.d(None,"d"),m.d()),m.d(None,None,"d")
@prog
def embedding_vocab_batch(m): return take,(Z(64,8),Z(8,8,t=I)),(m.xy("y"),m.xy("x")),m.xy("x")
def xent(t,w,i,y):
    h=jnp.tanh(take(t,i)); z=h@w; z=z-lax.stop_gradient(z.max(-1,keepdims=True))
    lse=jnp.log(jnp.exp(z).sum(-1)); hot=jax.nn.one_hot(y,w.shape[1],dtype=F)
    return (lse-(z*hot).sum(-1)).mean()
@prog
def language_model_vocab(m):
    return xent,(Z(64,8),Z(8,64),Z(4,8,t=I),Z(4,8,t=I)),(m.d("d"),m.d(None,"d"),m.d(),m.d()),m.d()
@prog
def language_model_train(m):
    def f(t,w,i,y):
        l,(a,b)=jax.value_and_grad(xent,(0,1))(t,w,i,y); return t-a,w-b,l
    return f,(Z(64,8),Z(8,64),Z(8,8,t=I),Z(8,8,t=I)),(m.xy("y"),m.xy(None,"y"),m.xy("x"),m.xy("x")),(m.xy("y"),m.xy(None,"y"),m.xy())
@prog
def segment_sum(m):
    def f(x,i): return jax.ops.segment_sum(x,i,num_segments=16)
    return f,(Z(32,8),Z(32,t=I)),(m.d("d"),m.d("d")),m.d()
# --- norms
@prog
def layer_norm_rows(m): return ln,(Z(16,16),Z(16),Z(16)),(m.d("d"),m.d(),m.d()),m.d("d")
@prog
def layer_norm_features(m): return ln,(Z(16,16),Z(16),Z(16)),(m.d(None,"d"),m.d("d"),m.d("d")),m.d(None,"d")
@prog
def batch_norm_train(m):
    def f(x,g,b):
        mu=x.mean((0,1,2)); v=((x-mu)**2).mean((0,1,2)); return (x-mu)*lax.rsqrt(v+1e-5)*g+b,mu,v
    return f,(Z(8,4,4,8),Z(8),Z(8)),(m.d("d"),m.d(),m.d()),(m.d("d"),m.d(),m.d())
@prog
def softmax_rows_cut(m): return (lambda x:jax.nn.softmax(x,-1)),(Z(16,32),),(m.d(None,"d"),),m.d(None,"d")
# --- recurrence
def rnn(x,h,wx,wh):
    def st(h,x): h=jnp.tanh(x@wx+h@wh); return h,h
    return lax.scan(st,h,x)
@prog
def rnn_batch(m): return rnn,(Z(4,16,8),Z(16,8),Z(8,8),Z(8,8)),(m.d(None,"d"),m.d("d"),m.d(),m.d()),(m.d("d"),m.d(None,"d"))
@prog
def rnn_hidden(m): return rnn,(Z(4,4,8),Z(4,16),Z(8,16),Z(16,16)),(m.d(),m.d(None,"d"),m.d(None,"d"),m.d(None,"d")),(m.d(None,"d"),m.d(None,None,"d"))
@prog
def rnn_train(m):
    def loss(p,x,h): return (rnn(x,h,*p)[1]**2).mean()
    s=(m.d(),m.d()); return sgd(loss),((Z(8,8),Z(8,8)),Z(4,16,8),Z(16,8)),(s,m.d(None,"d"),m.d("d")),(s,m.d())
@prog
def lstm_gates(m):
    def f(x,h,c,w,u):
        def st(hc,x):
            h,c=hc; z=jnp.einsum("bi,igh->bgh",x,w)+jnp.einsum("bj,jgh->bgh",h,u)
            i,f_,g,o=(z[:,k] for k in range(4)); c=jax.nn.sigmoid(f_)*c+jax.nn.sigmoid(i)*jnp.tanh(g); h=jax.nn.sigmoid(o)*jnp.tanh(c)
            return (h,c),h
        return lax.scan(st,(h,c),x)
    s=m.d(None,"d"); w=m.d(None,None,"d")
    return f,(Z(3,4,8),Z(4,8),Z(4,8),Z(8,4,8),Z(8,4,8)),(m.d(),s,s,w,w),((s,s),m.d(None,None,"d"))
# --- pipeline
@prog
def pipeline(m):
    # Stages along the devices; each round every stage works on another microbatch, which moves on by a roll.
    n=m.n
    def f(w,x):
        st=cons(jnp.zeros((n,)+x.shape[1:],F),m.d("d"))
        def rnd(st,xi):
            st=jnp.concatenate([xi[None],st[:-1]],0); st=cons(st,m.d("d"))
            st=cons(jax.nn.relu(jnp.einsum("sbi,sij->sbj",st,w)),m.d("d"))
            return st,st[-1]
        xs=jnp.concatenate([x,jnp.zeros((n-1,)+x.shape[1:],F)],0)
        return lax.scan(rnd,st,xs)[1][n-1:]
    return f,(Z(n,8,8),Z(4,2,8)),(m.d("d"),m.d()),m.d()
@prog
def pipeline_roll(m):
    n=m.n
    def f(w,x):
        x=cons(x,m.d("d"))
        def rnd(k,st):
            st=jax.nn.relu(jnp.einsum("sbi,sij->sbj",st,w)); return cons(jnp.roll(st,1,0),m.d("d"))
        return lax.fori_loop(0,n,rnd,x)
    return f,(Z(n,8,8),Z(n,4,8)),(m.d("d"),m.d("d")),m.d("d")
@prog
def pipeline_train(m):
    n=m.n
    def loss(w,x):
        st=cons(jnp.zeros((n,)+x.shape[1:],F),m.d("d"))
        def rnd(st,xi):
            st=cons(jnp.roll(st,1,0).at[0].set(xi),m.d("d"))
            st=cons(jnp.tanh(jnp.einsum("sbi,sij->sbj",st,w)),m.d("d"))
            return st,st[-1]
        xs=jnp.concatenate([x,jnp.zeros((n-1,)+x.shape[1:],F)],0)
        return (lax.scan(rnd,st,xs)[1][n-1:]**2).mean()
    return sgd(loss),(Z(n,8,8),Z(4,2,8)),(m.d("d"),m.d()),(m.d("d"),m.d())
@prog
def pipeline_layers(m):
    # Layers of a scan, whose parameters are cut by layer.
    def f(w,x):
        return lax.scan(lambda x,w:(jnp.tanh(x@w),None),x,w)[0]
    return f,(Z(8,8,8),Z(8,8)),(m.d("d"),m.d()),m.d()
# --- sorts, scans, others
@prog
def sort_other_dim(m): return (lambda x:jnp.sort(x,1)),(Z(16,16),),(m.d("d"),),m.d("d")
@prog
def sort_cut_dim(m): return (lambda x:jnp.sort(x,1)),(Z(16,16),),(m.d(None,"d"),),m.d(None,"d")
@prog
def sort_vector(m): return (lambda x:jnp.sort(x)),(Z(64,),),(m.d("d"),),m.d("d")
@prog
def argsort_cut_dim(m): return (lambda x:jnp.argsort(x,1)),(Z(16,16),),(m.d(None,"d"),),m.d()
@prog
def cumsum_cut_dim(m): return (lambda x:jnp.cumsum(x,1)),(Z(8,32),),(m.d(None,"d"),),m.d(None,"d")
@prog
def top_k_cut_dim(m): return (lambda x:tuple(lax.top_k(x,4))),(Z(8,64),),(m.d(None,"d"),),(m.d(),m.d())
@prog
def argmax_cut_dim(m): return (lambda x:jnp.argmax(x,1)),(Z(8,64),),(m.d(None,"d"),),m.d()
@prog
def matmul_2d(m): return jnp.matmul,(Z(16,16),Z(16,16)),(m.xy("x","y"),m.xy("x","y")),m.xy("x","y")
@prog
def matmul_summa_t(m): return (lambda a,b:(a@b.T)),(Z(16,16),Z(16,16)),(m.xy("x","y"),m.xy("y","x")),m.xy("x","y")
@prog
def stencil(m):
    def f(x):
        def st(k,x):
            p=jnp.pad(x,1); return x+0.1*(p[2:,1:-1]+p[:-2,1:-1]+p[1:-1,2:]+p[1:-1,:-2]-4*x)
        return lax.fori_loop(0,4,st,x)
    return f,(Z(32,8),),(m.d("d"),),m.d("d")
@prog
def k_means(m):
    def f(x,c):
        d=((x[:,None]-c[None])**2).sum(-1); h=jax.nn.one_hot(jnp.argmin(d,1),c.shape[0],dtype=F)
        return (h.T@x)/jnp.maximum(h.sum(0),1)[:,None]
    return f,(Z(64,8),Z(8,8)),(m.d("d"),m.d()),m.d()
@prog
def logistic_newton(m):
    def f(w,x,y):
        p=jax.nn.sigmoid(x@w); g=x.T@(p-y); h=(x.T*(p*(1-p)))@x+jnp.eye(8)
        return w-g/jnp.diagonal(h)
    return f,(Z(8),Z(32,8),Z(32)),(m.d(),m.d("d"),m.d("d")),m.d()
@prog
def transpose_all_to_all(m): return (lambda x:x.T*2),(Z(16,32),),(m.d("d"),),m.d("d")
@prog
def power_iteration(m):
    def f(a,v):
        def st(k,v): u=a@v; return u/jnp.sqrt((u*u).sum())
        return lax.fori_loop(0,3,st,v)
    return f,(Z(16,16),Z(16)),(m.d("d"),m.d()),m.d()


ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def sent(text):
    """The bytes that a device sends in a program, by `hlo-opt --cost`."""
    opt = os.environ.get("HLO_OPT", os.path.join(ROOT, "target", "release", "hlo-opt"))
    out = subprocess.run([opt, "-", "--cost=json"], input=text, capture_output=True, text=True, check=True).stdout
    return sum(collective["sent"] for collective in json.loads(out)["collectives"])


def write(name, program, n):
    f, args, ins, outs = program(M(n))
    low = jax.jit(f, in_shardings=ins, out_shardings=outs).lower(*args)
    text = low.as_text(dialect="hlo")
    text = re.sub(r"^(HloModule [^\n]*)", lambda k: k[1] + f", num_partitions={n}", text, count=1)
    theirs = sent(low.compile().as_text())
    with open(os.path.join(ROOT, "test", "partitioning", f"{name}_{n}.hlo"), "w") as out:
        out.write(f"// {name} on {n} devices. jaxlib sends {theirs} bytes.\n{text.rstrip()}\n")


def main():
    for name, program in PROGS.items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            for n in (2, 4, 8):
                write(name, program, n)


if __name__ == "__main__":
    main()
